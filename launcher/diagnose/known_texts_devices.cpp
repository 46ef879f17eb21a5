// Accelerators: their memory, their loss, and who else holds them.
#include "launcher/diagnose/known_texts.hpp"

namespace forklift {
namespace {

constexpr Confidence certain = Confidence::certain;
constexpr Confidence likely = Confidence::likely;

constexpr std::string_view smaller_batch =
    "Use a smaller batch per replica (with gradient accumulation the result stays the same), or activation "
    "checkpointing.";
constexpr std::string_view see_nvidia_smi = "See with nvidia-smi whether another process holds memory on the device.";
constexpr std::string_view expandable =
    "If much is \"reserved but unallocated\": PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True";
constexpr std::string_view blocking =
    "Run once with CUDA_LAUNCH_BLOCKING=1: only then does the traceback name the operation that failed.";
constexpr std::string_view see_xid =
    "See the driver's log for the device: dmesg | grep -i -e xid -e nvrm; nvidia-smi -q -d ECC";
constexpr std::string_view drain_node = "If the device itself failed, take the machine out of the job and restart.";
constexpr std::string_view tpu_holder =
    "Find who holds the TPU: sudo lsof -w /dev/accel* /dev/vfio/* — often a notebook or a process of an earlier run.";

constexpr KnownText device_memory(std::string_view words, Confidence confidence = certain) {
  return {{words, ""},
          Category::device_out_of_memory,
          confidence,
          "ran out of device memory",
          {smaller_batch, see_nvidia_smi, expandable}};
}

constexpr KnownText tpu_memory(std::string_view words, std::string_view also, Confidence confidence) {
  return {{words, also},
          Category::device_out_of_memory,
          confidence,
          "ran out of device memory",
          {smaller_batch, "Shard the model or the optimizer over more devices, or use a smaller type (bfloat16).", ""}};
}

constexpr KnownText lost_device(std::string_view words, Confidence confidence) {
  return {{words, ""}, Category::device_lost, confidence, "lost its device", {see_xid, drain_node, ""}};
}

constexpr KnownText busy_tpu(std::string_view words, std::string_view also = "") {
  return {{words, also},
          Category::device_busy,
          certain,
          "could not open the TPU: another process holds it",
          {tpu_holder, "End that process, and start again.", ""}};
}

constexpr auto rows = std::to_array<KnownText>({
    // out of device memory
    device_memory("CUDA out of memory"),
    device_memory("CUDA error: out of memory"),
    device_memory("HIP out of memory"),
    device_memory("XPU out of memory"),
    device_memory("CUBLAS_STATUS_ALLOC_FAILED", likely),
    device_memory("CUDNN_STATUS_ALLOC_FAILED", likely),
    device_memory("OOM when allocating tensor"),
    {{"RESOURCE_EXHAUSTED", "larger than max"},
     Category::python_exception,
     certain,
     "",
     {"A message was too large for gRPC: send less at once, for instance map data from files.", "", ""}},
    tpu_memory("Ran out of memory in memory space hbm", "", certain),
    tpu_memory("RESOURCE_EXHAUSTED", "allocat", certain),
    tpu_memory("RESOURCE_EXHAUSTED", "", likely),
    tpu_memory("ResourceExhaustedError", "", likely),

    // the device or its context is lost
    {{"device-side assert triggered", ""},
     Category::device_lost,
     certain,
     "lost its device context: an assertion failed in a kernel",
     {blocking, "The usual cause is an index out of range: labels or token numbers beyond the size of a layer.", ""}},
    {{"an illegal memory access was encountered", ""},
     Category::device_lost,
     certain,
     "lost its device context: a kernel accessed memory that is not its own",
     {blocking, "compute-sanitizer {python} {program} names the kernel.", see_xid}},
    {{"uncorrectable ECC error", ""},
     Category::device_lost,
     certain,
     "lost its device: its memory has an uncorrectable error",
     {drain_node, see_xid, ""}},
    lost_device("CUDA_ERROR_ECC_UNCORRECTABLE", certain),
    lost_device("NVRM: Xid", certain),
    lost_device("GPU is lost", certain),
    lost_device("GPU has fallen off the bus", certain),
    lost_device("Unable to determine the device handle", certain),
    lost_device("unspecified launch failure", likely),
    lost_device("CUDA error: unknown error", likely),
    {{"TPU initialization failed", ""},
     Category::device_lost,
     likely,
     "could not initialise its TPU",
     {tpu_holder, "If nobody does, restart the TPU VM.", ""}},

    // somebody else holds the device
    busy_tpu("The TPU is already in use by"),
    busy_tpu("libtpu.so already in use"),
    busy_tpu("Couldn't open device: /dev/accel"),
    busy_tpu("Couldn't open iommu group"),
    busy_tpu("/dev/vfio/", "Device or resource busy"),
    {{"CUDA-capable device(s) is/are busy or unavailable", ""},
     Category::device_busy,
     certain,
     "could not open its GPU: it is busy or set to exclusive use",
     {"See the compute mode and the processes: nvidia-smi -q -d COMPUTE; nvidia-smi", "", ""}},

    // forked after the device was opened
    {{"Cannot re-initialize", "in forked subprocess"},
     Category::fork_after_device_init,
     certain,
     "was forked after its parent had opened the device",
     {"Touch no device before the fork: move .to(\"cuda\"), torch.cuda.*() and such imports behind it.",
      "In a notebook, restart the kernel first; for worker pools and DataLoader use the start method \"spawn\".", ""}},
    {{"Runtime is already initialized", "xmp.spawn"},
     Category::fork_after_device_init,
     certain,
     "started processes after it had opened the XLA device",
     {"Touch no XLA device (xla_device(), Accelerator()) before xmp.spawn; in a notebook, restart the kernel first.",
      "Under forklift the script needs no xmp.spawn of its own.", ""}},

    // no fitting device or driver
    {{"invalid device ordinal", ""},
     Category::python_exception,
     certain,
     "",
     {"There are more replicas than devices on this machine: start fewer (--num-processes), or select devices with "
      "--gpu-ids.",
      "Use torch.cuda.set_device(LOCAL_RANK), not RANK.", ""}},
    {{"No CUDA GPUs are available", ""},
     Category::python_exception,
     certain,
     "",
     {"See nvidia-smi, and CUDA_VISIBLE_DEVICES in --dry-run; in a container add --gpus all. Without a GPU: --cpu", "",
      ""}},
    {{"Found no NVIDIA driver", ""},
     Category::python_exception,
     certain,
     "",
     {"Install the driver, or in a container add --gpus all. Without a GPU: --cpu", "", ""}},
    {{"no kernel image is available for execution on the device", ""},
     Category::python_exception,
     certain,
     "",
     {"The installed build does not know this GPU: install one for its compute capability.", "", ""}},
    {{"CUDA driver version is insufficient", ""},
     Category::python_exception,
     certain,
     "",
     {"Update the NVIDIA driver, or install a build for an older CUDA.", "", ""}},
    {{"Duplicate GPU detected", ""},
     Category::python_exception,
     certain,
     "shares its GPU with another replica, which NCCL refuses",
     {"Give each replica its own: torch.cuda.set_device(int(os.environ[\"LOCAL_RANK\"])) before the process group is "
      "made.",
      "Start no more replicas than there are GPUs.", ""}},
    {{"Unable to initialize backend 'tpu'", ""},
     Category::python_exception,
     likely,
     "",
     {tpu_holder, "Without a TPU: JAX_PLATFORMS=cpu (forklift's --cpu).", ""}},
});

}  // namespace

std::span<const KnownText> device_texts() { return rows; }

}  // namespace forklift
