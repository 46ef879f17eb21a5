// Every row of the tables of known texts, met by words as programs really print them.
#include "launcher/diagnose/known_texts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "launcher/diagnose/decode_status.hpp"
#include "launcher/diagnose/plain_text.hpp"
#include "tests/diagnose/builders.hpp"

namespace forklift {
namespace {

using testing::an_ending;
using testing::joined;
using testing::traceback_ending_in;

/// What a dying replica printed, and what must be said about it.
struct Sample {
  const char* words;
  Category category;
  const char* advice;  ///< A part of the advice.
};

constexpr Category exception = Category::python_exception;

// In the order of the tables, row by row: as many samples as rows.
const std::vector<Sample>& samples() {
  static const std::vector<Sample> all{
      // the guides
      {"AttributeError: type object 'DistributedType' has no attribute 'TPU'", exception, "DistributedType.XLA"},
      {"AttributeError: TPU (if state.distributed_type == DistributedType.TPU)", exception, "DistributedType.XLA"},
      {"ValueError: 'TPU' is not a valid DistributedType", exception, "distributed_type: XLA"},
      {"TypeError: Accelerator.__init__() got an unexpected keyword argument 'downcast_bf16'", exception,
       "--downcast-bf16"},
      {"AttributeError: 'AcceleratorState' object has no attribute 'distributedType'", exception,
       "--mixed-precision bf16"},
      {"ValueError: Can only use `downcast_bf16` when using `mixed_precision='bf16'` and on a TPU", exception,
       "--mixed-precision bf16"},
      {"ValueError: You can't train a model that has been loaded with `device_map='auto'` in any distributed mode.",
       exception, "device_map={'': local_rank}"},
      {"ValueError: You set `devices=1` and `num_nodes=1` in Lightning, but the product (1 * 1) does not match the "
       "world "
       "size (4).",
       exception, "must be the world size, 4"},
      {"ValueError: You set `devices=4` in Lightning, but the number of tasks per node configured in SLURM "
       "`--ntasks-per-node=1` does not match. HINT: Set `devices=1`.",
       exception, "SLURM_NTASKS"},
      {"tensorflow.python.framework.errors_impl.InvalidArgumentError: Reshape's input dynamic dimension is decomposed "
       "into multiple output dynamic dimensions [[node TPUReplicate/_compile/_857/_6]]",
       exception, "jit_compile=True"},
      {"tensorflow.python.framework.errors_impl.UnimplementedError: We failed to lift variable creations out of this "
       "tf.function, so this tf.function cannot be run on XLA.",
       exception, "jit_compile=False"},
      {"RuntimeError: `merge_call` called while defining a new graph or a tf.function.", exception,
       "jit_compile=False"},
      {"tensorflow.python.framework.errors_impl.UnimplementedError: File system scheme '[local]' not implemented "
       "(file: "
       "'train.tfrecord')",
       exception, "gs://"},
      {"ValueError: Unsupported nprocs (8). Please use the environment variable for the hardware", exception,
       "nprocs=None"},
      {"ValueError: Error initializing torch.distributed using env:// rendezvous: environment variable RANK expected, "
       "but "
       "not set",
       exception, "--nproc-per-node 1"},
      {"KeyError: 'RANK'", exception, "--nproc-per-node 1"},
      {"KeyError: 'LOCAL_RANK'", exception, "--nproc-per-node 1"},
      {"KeyError: 'WORLD_SIZE'", exception, "--nproc-per-node 1"},
      {"KeyError: 'MASTER_ADDR'", exception, "--nproc-per-node 1"},
      {"ValueError: Default process group has not been initialized, please make sure to call init_process_group.",
       exception, "init_process_group"},
      {"RuntimeError: Expected to have finished reduction in the prior iteration before starting a new one.", exception,
       "find_unused_parameters"},
      {"RuntimeError: An attempt has been made to start a new process before the current process has finished its "
       "bootstrapping phase.",
       exception, "__main__"},
      // devices
      {"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 GiB.", Category::device_out_of_memory,
       "smaller batch"},
      {"RuntimeError: CUDA error: out of memory", Category::device_out_of_memory, "nvidia-smi"},
      {"torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 GiB.", Category::device_out_of_memory,
       "smaller batch"},
      {"torch.OutOfMemoryError: XPU out of memory. Tried to allocate 2.00 GiB.", Category::device_out_of_memory,
       "smaller batch"},
      {"RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
       Category::device_out_of_memory, "smaller batch"},
      {"RuntimeError: cuDNN error: CUDNN_STATUS_ALLOC_FAILED", Category::device_out_of_memory, "smaller batch"},
      {"ResourceExhaustedError: OOM when allocating tensor with shape[4096,4096]", Category::device_out_of_memory,
       "smaller batch"},
      {"grpc.RpcError: RESOURCE_EXHAUSTED: Received message larger than max (5000000 vs. 4194304)", exception,
       "too large for gRPC"},
      {"jaxlib.xla_extension.XlaRuntimeError: Ran out of memory in memory space hbm. Used 20.00G of 15.48G hbm.",
       Category::device_out_of_memory, "bfloat16"},
      {"jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Attempting to allocate 1.00G.",
       Category::device_out_of_memory, "smaller batch"},
      {"jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: out of something", Category::device_out_of_memory,
       "smaller batch"},
      {"tensorflow.python.framework.errors_impl.ResourceExhaustedError: Graph execution error",
       Category::device_out_of_memory, "smaller batch"},
      {"RuntimeError: CUDA error: device-side assert triggered", Category::device_lost, "CUDA_LAUNCH_BLOCKING=1"},
      {"RuntimeError: CUDA error: an illegal memory access was encountered", Category::device_lost,
       "compute-sanitizer /opt/venv/bin/python train.py"},
      {"RuntimeError: CUDA error: uncorrectable ECC error encountered", Category::device_lost, "nvidia-smi"},
      {"cupy: CUDA_ERROR_ECC_UNCORRECTABLE", Category::device_lost, "nvidia-smi"},
      {"kernel: NVRM: Xid (PCI:0000:65:00): 79, GPU is gone", Category::device_lost, "dmesg"},
      {"Unable to query: GPU is lost. Reboot the system to recover this GPU", Category::device_lost, "dmesg"},
      {"GPU has fallen off the bus.", Category::device_lost, "dmesg"},
      {"Unable to determine the device handle for GPU0000:65:00.0: Unknown Error", Category::device_lost, "dmesg"},
      {"RuntimeError: CUDA error: unspecified launch failure", Category::device_lost, "dmesg"},
      {"RuntimeError: CUDA error: unknown error", Category::device_lost, "dmesg"},
      {"RuntimeError: TPU initialization failed: Failed to connect to remote", Category::device_lost, "lsof"},
      {"RuntimeError: ABORTED: The TPU is already in use by process with pid 77.", Category::device_busy, "lsof"},
      {"libtpu.so already in use by another process probably owned by another user.", Category::device_busy, "lsof"},
      {"RuntimeError: Couldn't open device: /dev/accel0", Category::device_busy, "lsof"},
      {"RuntimeError: Couldn't open iommu group /dev/vfio/0", Category::device_busy, "lsof"},
      {"RuntimeError: open(/dev/vfio/0): Device or resource busy", Category::device_busy, "lsof"},
      {"RuntimeError: CUDA error: CUDA-capable device(s) is/are busy or unavailable", Category::device_busy, "COMPUTE"},
      {"RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use "
       "the "
       "'spawn' start method",
       Category::fork_after_device_init, "before the fork"},
      {"RuntimeError: Runtime is already initialized. Do not use the XLA device before calling xmp.spawn.",
       Category::fork_after_device_init, "xmp.spawn"},
      {"RuntimeError: CUDA error: invalid device ordinal", exception, "more replicas than devices"},
      {"RuntimeError: No CUDA GPUs are available", exception, "--cpu"},
      {"RuntimeError: Found no NVIDIA driver on your system.", exception, "--gpus all"},
      {"RuntimeError: CUDA error: no kernel image is available for execution on the device", exception,
       "compute capability"},
      {"RuntimeError: CUDA driver version is insufficient for CUDA runtime version", exception, "NVIDIA driver"},
      {"torch.distributed.DistBackendError: ncclInvalidUsage: Duplicate GPU detected : rank 1 and rank 0 both on CUDA "
       "device 1000",
       exception, "LOCAL_RANK"},
      {"RuntimeError: Unable to initialize backend 'tpu': NOT_FOUND: No device", exception, "JAX_PLATFORMS=cpu"},
      // replicas that wait for each other
      {"torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients. 1/2 clients joined.",
       Category::collective_timeout, "all 4 replicas were started"},
      {"RuntimeError: Timed out initializing process group in store based barrier on rank: 0",
       Category::collective_timeout, "all 4 replicas were started"},
      {"XlaRuntimeError: DEADLINE_EXCEEDED: Deadline Exceeded; RegisterTask", Category::collective_timeout,
       "all 4 replicas were started"},
      {"[rank0]:[E321 ProcessGroupNCCL.cpp:607] [Rank 0] Watchdog caught collective operation timeout: "
       "WorkNCCL(SeqNum=15, OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600060 milliseconds before timing out.",
       Category::collective_timeout, "same order"},
      {"RuntimeError: [unbound_buffer.cc:81] Timed out waiting 1800000ms for recv operation to complete",
       Category::collective_timeout, "same order"},
      {"torch.distributed.DistStoreError: wait timeout after 300000ms, keys: /default_pg/0//cpu//0/1",
       Category::collective_timeout, "other ranks"},
      {"RuntimeError: Rank 1 successfully reached monitoredBarrier, but received errors; rank 2 failed to pass "
       "monitoredBarrier in 30000 ms",
       Category::collective_timeout, "other ranks"},
      {"RuntimeError: Detected mismatch between collectives on ranks. Rank 0 is running collective: ALLREDUCE",
       Category::collective_timeout, "same order"},
      {"XlaRuntimeError: DEADLINE_EXCEEDED: Barrier timed out. Id: end::0", Category::collective_timeout,
       "other ranks"},
      {"torch.distributed.DistStoreError: Socket Timeout", Category::collective_timeout, "other ranks"},
      {"horovod.common.exceptions.HorovodInternalError: the operation timed out", Category::collective_timeout,
       "other ranks"},
      {"RuntimeError: DDP expects same model across all ranks, but Rank 0 has 2 params, while rank 1 has inconsistent "
       "1 "
       "params.",
       exception, "same model on every rank"},
      {"torch.distributed.DistNetworkError: The client socket has failed to connect to any network address of (node0, "
       "29500).",
       exception, "MASTER_ADDR"},
      {"grpc: failed to connect to all addresses; last error: UNKNOWN", exception, "MASTER_ADDR"},
      {"ConnectionRefusedError: [Errno 111] Connection refused", exception, "MASTER_ADDR"},
      {"socket.gaierror: [Errno -2] Name or service not known", exception, "MASTER_ADDR"},
      {"socket.gaierror: [Errno -3] Temporary failure in name resolution", exception, "MASTER_ADDR"},
      {"torch.distributed.DistBackendError: NCCL error in: NCCLUtils.hpp:1, unhandled system error", exception,
       "NCCL_DEBUG=INFO"},
      {"slurmstepd: error: *** STEP 7.0 ON node1 CANCELLED AT 2024-01-02T03:04:05 DUE TO PREEMPTION ***",
       Category::preempted, "--checkpoint-signal"},
      {"slurmstepd: error: *** STEP 7.0 ON node1 CANCELLED AT 2024-01-02T03:04:05 DUE TO TIME LIMIT ***",
       Category::preempted, "--checkpoint-signal"},
      {"slurmstepd: error: *** STEP 7.0 ON node1 CANCELLED AT 2024-01-02T03:04:05 DUE TO NODE FAILURE, SEE SLURMCTLD "
       "LOG "
       "***",
       Category::preempted, "--checkpoint-signal"},
      {"RuntimeError: UNAVAILABLE: the worker was preempted", Category::preempted, "--checkpoint-signal"},
      {"RuntimeError: the TPU node has been preempted", Category::preempted, "--checkpoint-signal"},
      {"RuntimeError: the TPU was stopped for a maintenance event", Category::preempted, "--checkpoint-signal"},
      // the system
      {"slurmstepd: error: Detected 1 oom_kill event in StepId=7.0. Some of the step tasks have been OOM Killed.",
       Category::out_of_memory, "start fewer"},
      {"RuntimeError: unable to write to file </torch_123_456>: No space left on device (28)",
       Category::bus_error_shared_memory, "--shm-size"},
      {"RuntimeError: It is possible that dataloader's workers are out of shared memory.",
       Category::bus_error_shared_memory, "--shm-size"},
      {"NCCL WARN Error while creating shared memory segment /dev/shm/nccl-x (size 9637888)",
       Category::bus_error_shared_memory, "--shm-size"},
      {"numpy.core._exceptions._ArrayMemoryError: Unable to allocate 7.45 GiB for an array", Category::out_of_memory,
       "start fewer"},
      {"RuntimeError: [enforce fail at alloc_cpu.cpp:117] err == 0. DefaultCPUAllocator: can't allocate memory",
       Category::out_of_memory, "start fewer"},
      {"terminate called after throwing an instance of 'std::bad_alloc'", Category::out_of_memory, "start fewer"},
      {"OSError: [Errno 12] Cannot allocate memory", Category::out_of_memory, "ulimit -v"},
      {"OSError: [Errno 28] No space left on device: '/ckpt/1.pt'", exception, "df -h"},
      {"OSError: [Errno 122] Disk quota exceeded", exception, "quota -s"},
      {"OSError: [Errno 30] Read-only file system: '/root/.cache'", exception, "HF_HOME"},
      {"OSError: [Errno 24] Too many open files: 'data.bin'", exception, "ulimit -n"},
      {"RuntimeError: can't start new thread", exception, "ulimit -u"},
      {"libgomp: Thread creation failed: Resource temporarily unavailable", exception, "OMP_NUM_THREADS"},
      {"OpenBLAS blas_thread_init: pthread_create failed for thread 1 of 64", exception, "OMP_NUM_THREADS"},
      {"BlockingIOError: [Errno 11] Resource temporarily unavailable", exception, "ulimit -u"},
      {"ModuleNotFoundError: No module named 'transformers'", exception, "/opt/venv/bin/python -m pip install"},
      {"bdb.BdbQuit", exception, "--interactive-rank 0"},
      {"ImportError: libcudnn.so.9: cannot open shared object file: No such file or directory", exception,
       "LD_LIBRARY_PATH"},
      {"ImportError: /lib/x86_64-linux-gnu/libstdc++.so.6: version `GLIBCXX_3.4.32' not found", exception,
       "newer system"},
      {"ImportError: _C.so: undefined symbol: _ZN3c105ErrorC2E", exception, "belong together"},
      {"ImportError: cannot import name 'Tensor' from partially initialized module 'torch'", exception, "rename it"},
      {"/usr/bin/python3: can't open file '/w/tran.py': [Errno 2] No such file or directory", Category::exit_code,
       "path of PROGRAM"},
      {"/usr/bin/python3: can't find '__main__' module in '/w'", Category::exit_code, "__main__.py"},
      {"==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x1", Category::abort, "wrong access"},
      {"thread 'main' panicked at src/lib.rs:3:5", Category::abort, "RUST_BACKTRACE=1"},
      {"safetensors_rust.SafetensorError: Error while deserializing header: HeaderTooLarge", exception, "Git LFS"},
      {"RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory", exception,
       "rename it into place"},
  };
  return all;
}

std::vector<const KnownText*> all_rows() {
  std::vector<const KnownText*> rows;
  for (const auto list : {guide_texts(), device_texts(), collective_texts(), system_texts()}) {
    for (const KnownText& row : list) rows.push_back(&row);
  }
  return rows;
}

/// As the replica would have ended: an exception line by exit 1, anything else as a last line on stderr.
Ending ending_with(const char* words) { return an_ending(0).exited(1).saying(words); }

TEST(KnownTexts, EveryRow_IsMetByItsSample) {
  const std::vector<const KnownText*> rows = all_rows();
  ASSERT_EQ(samples().size(), rows.size());
  for (std::size_t at = 0; at < rows.size(); ++at) {
    EXPECT_EQ(find_known_text(samples()[at].words), rows[at]) << samples()[at].words;
  }
}

TEST(KnownTexts, EveryRow_HasWordsThatCannotMatchEverything) {
  for (const KnownText* row : all_rows()) {
    EXPECT_GE(row->words.front().size(), 7U) << row->words.front();
    EXPECT_FALSE(row->advice.front().empty()) << row->words.front();
  }
}

TEST(KnownTexts, EverySample_IsExplained) {
  for (const Sample& sample : samples()) {
    const std::string words = sample.words;
    const Diagnosis diagnosis = testing::diagnosis_of(ending_with(sample.words));
    EXPECT_EQ(diagnosis.category, sample.category)
        << category_name(diagnosis.category) << ": " << diagnosis.summary << "\n"
        << words;
    EXPECT_TRUE(contains(joined(diagnosis.advice), sample.advice)) << joined(diagnosis.advice) << "\n" << words;
    EXPECT_EQ(diagnosis.summary.find("Rank 0 (pid 1000) "), 0U) << diagnosis.summary;
    EXPECT_TRUE(diagnosis.summary.ends_with('.')) << diagnosis.summary;
    EXPECT_FALSE(contains(joined(diagnosis.advice), "{python}")) << joined(diagnosis.advice);
  }
}

TEST(KnownTexts, InAnExceptionOfTheChain_AreLessSure) {
  const std::string chained = traceback_ending_in("torch.OutOfMemoryError: CUDA out of memory.") +
                              "\nDuring handling of the above exception, another exception occurred:\n\n" +
                              traceback_ending_in("RuntimeError: training failed");
  const Diagnosis diagnosis = testing::diagnosis_of(an_ending(0).exited(1).saying(chained));
  EXPECT_EQ(diagnosis.category, Category::device_out_of_memory);
  EXPECT_EQ(diagnosis.confidence, Confidence::likely);
}

TEST(KnownTexts, MemberNamedByTheTracebackOnly_IsFound) {
  const Diagnosis diagnosis = testing::diagnosis_of(an_ending(0).exited(1).saying(
      "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n"
      "    if accelerator.distributed_type == DistributedType.TPU:\nAttributeError: TPU\n"));
  EXPECT_TRUE(contains(joined(diagnosis.advice), "DistributedType.XLA"));
  EXPECT_EQ(diagnosis.summary, "Rank 0 (pid 1000) raised AttributeError: TPU.");
}

TEST(KnownTexts, MissingModule_IsNamedWithTheInterpreterThatLacksIt) {
  AttemptEvidence evidence;
  evidence.executable = "/usr/bin/python3.11";
  const Ending ending = an_ending(0).exited(1).saying(
      traceback_ending_in("ModuleNotFoundError: No module named 'torch.nn'; 'torch' is not a package"));
  EXPECT_TRUE(contains(joined(testing::diagnosis_of(ending, evidence).advice),
                       "module torch.nn for the interpreter that runs the replicas: /usr/bin/python3.11 -m pip"));
}

// What `python -m no.such.module` says.
TEST(KnownTexts, MissingModuleInBrackets_IsNamedWithoutThem) {
  const Diagnosis diagnosis = testing::diagnosis_of(testing::an_ending(0).exited(1).saying(
      "/usr/bin/python3: Error while finding module specification for 'no.such' (ModuleNotFoundError: No module named "
      "'no')\n"));
  EXPECT_NE(testing::joined(diagnosis.advice).find("holds the module no for"), std::string::npos)
      << testing::joined(diagnosis.advice);
}

TEST(KnownTexts, WatchdogBeforeAnAbort_IsTheCause) {
  const Diagnosis diagnosis = testing::diagnosis_of(an_ending(0).killed_by(6).saying(
      "[rank0]:[E ProcessGroupNCCL.cpp:607] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1)\n"
      "terminate called after throwing an instance of 'c10::DistBackendError'\n"));
  EXPECT_EQ(diagnosis.category, Category::collective_timeout);
}

}  // namespace
}  // namespace forklift
