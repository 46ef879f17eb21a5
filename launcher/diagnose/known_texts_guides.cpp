// Snippets of well-known guides that fail with today's libraries, or under any launcher.
#include "launcher/diagnose/known_texts.hpp"

namespace forklift {
namespace {

constexpr Category exception = Category::python_exception;
constexpr Confidence certain = Confidence::certain;
constexpr Confidence likely = Confidence::likely;

constexpr std::string_view one_replica_by_number =
    "A single replica is started without RANK and MASTER_ADDR in accelerate's manner: start it with --nproc-per-node 1 "
    "to have them set.";
constexpr std::string_view emptied_environment =
    "Something between forklift and the script (sudo, a container) may have emptied the environment.";

constexpr KnownText missing_variable(std::string_view words, std::string_view also, Confidence confidence) {
  return {{words, also}, exception, confidence, "", {one_replica_by_number, emptied_environment, ""}};
}

constexpr auto rows = std::to_array<KnownText>({
    // accelerate
    {{"DistributedType", "has no attribute 'TPU'"},
     exception,
     certain,
     "",
     {"DistributedType.TPU was renamed: write DistributedType.XLA.", "", ""}},
    {{"AttributeError: TPU", "DistributedType.TPU"},  // Python before 3.12 names only the member
     exception,
     certain,
     "",
     {"DistributedType.TPU was renamed: write DistributedType.XLA.", "", ""}},
    {{"'TPU' is not a valid DistributedType", ""},
     exception,
     certain,
     "",
     {"Write distributed_type: XLA in the configuration file.", "", ""}},
    {{"unexpected keyword argument 'downcast_bf16'", ""},
     exception,
     certain,
     "",
     {"Accelerator() no longer takes downcast_bf16: remove it and launch with --mixed-precision bf16 --downcast-bf16.",
      "", ""}},
    {{"has no attribute 'distributedType'", ""},
     exception,
     certain,
     "",
     {"downcast_bf16 needs mixed precision bf16: launch with --mixed-precision bf16, or without --downcast-bf16.", "",
      ""}},
    {{"Can only use `downcast_bf16`", ""},
     exception,
     certain,
     "",
     {"Launch with --mixed-precision bf16, on a TPU; elsewhere leave --downcast-bf16 out.", "", ""}},
    {{"can't train a model that has been loaded with `device_map='auto'`", ""},
     exception,
     certain,
     "",
     {"Load a whole copy per replica: device_map={{'': local_rank}} in place of device_map='auto'.",
      "Or keep device_map='auto' and run one replica: --num-processes 1.", ""}},
    // Lightning
    {{"in Lightning, but the product", "does not match the world size"},
     exception,
     certain,
     "",
     {"Trainer(devices × num_nodes) must be the world size, {world_size}: set both in the Trainer, or leave them out "
      "and take them from --num-processes.",
      "Or start as many replicas as the Trainer says: --num-processes.", ""}},
    {{"in Lightning, but the number of tasks per node configured in SLURM", ""},
     exception,
     certain,
     "",
     {"Under Slurm start one forklift per node (--ntasks-per-node=1) and let it start the replicas; unset "
      "SLURM_NTASKS for them, or give Trainer a TorchElasticEnvironment().",
      "", ""}},
    // TensorFlow and Keras
    {{"dynamic dimension", "TPUReplicate/_compile"},
     exception,
     likely,
     "",
     {"Compile the model without jit_compile=True: a TPU compiles everything by itself.",
      "Give batches a fixed size: dataset.batch(n, drop_remainder=True).", ""}},
    {{"cannot be run on XLA", ""},
     exception,
     likely,
     "",
     {"Compile the model with jit_compile=False: it does not go together with a distribution strategy.", "", ""}},
    {{"merge_call", "called while defining a new graph"},
     exception,
     likely,
     "",
     {"Compile the model with jit_compile=False: it does not go together with a distribution strategy.", "", ""}},
    {{"File system scheme '[local]' not implemented", ""},
     exception,
     certain,
     "",
     {"A TPU Node cannot read this machine's disk: put the data into a bucket (gs://…), or use a TPU VM.", "", ""}},
    // torch_xla
    {{"Unsupported nprocs", ""},
     exception,
     certain,
     "",
     {"xmp.spawn takes nprocs=None or 1 today: leave the argument out.", "", ""}},
    // torch
    missing_variable("environment variable", "expected, but not set", certain),
    missing_variable("KeyError: 'RANK'", "", likely),
    missing_variable("KeyError: 'LOCAL_RANK'", "", likely),
    missing_variable("KeyError: 'WORLD_SIZE'", "", likely),
    missing_variable("KeyError: 'MASTER_ADDR'", "", likely),
    {{"Default process group has not been initialized", ""},
     exception,
     certain,
     "",
     {"Call torch.distributed.init_process_group() before the first collective operation.", "", ""}},
    {{"Expected to have finished reduction in the prior iteration", ""},
     exception,
     certain,
     "",
     {"Some parameters took no part in the loss: DistributedDataParallel(…, find_unused_parameters=True), or make "
      "every "
      "output part of the loss.",
      "TORCH_DISTRIBUTED_DEBUG=DETAIL names the parameters.", ""}},
    {{"before the current process has finished its bootstrapping phase", ""},
     exception,
     certain,
     "started another process while it was still being imported",
     {"Put the program's start under: if __name__ == \"__main__\":",
      "Under forklift the script needs no mp.spawn of its own: each replica is already a process.", ""}},
});

}  // namespace

std::span<const KnownText> guide_texts() { return rows; }

}  // namespace forklift
