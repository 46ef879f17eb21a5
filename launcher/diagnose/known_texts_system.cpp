// Memory, disks, limits, and software that is missing or does not fit.
#include "launcher/diagnose/known_texts.hpp"

namespace forklift {
namespace {

constexpr Category exception = Category::python_exception;
constexpr Confidence certain = Confidence::certain;
constexpr Confidence likely = Confidence::likely;

constexpr std::string_view load_less =
    "Load less in each replica, or start fewer: every one holds its own copy of what it loads.";
constexpr std::string_view see_limits =
    "A limit may be lower than the machine's memory: ulimit -v, or the container's.";
constexpr std::string_view larger_shm =
    "Make /dev/shm larger: `docker run --shm-size=8g` (or --ipc=host); in Kubernetes mount an emptyDir with medium: "
    "Memory at /dev/shm.";
constexpr std::string_view fewer_workers =
    "Use fewer data loading workers (num_workers), or torch.multiprocessing.set_sharing_strategy('file_system').";
constexpr std::string_view free_space =
    "Free some space where the line above says, or write checkpoints, logs and caches elsewhere (TMPDIR, HF_HOME).";
constexpr std::string_view more_processes =
    "Raise the limit of processes and threads: `ulimit -u`, or pids.max of the container; fewer data loading workers "
    "and a smaller OMP_NUM_THREADS need fewer.";

constexpr KnownText out_of_memory(std::string_view words, std::string_view also, Confidence confidence,
                                  std::string_view predicate = "could not get the memory that it asked for") {
  return {{words, also}, Category::out_of_memory, confidence, predicate, {load_less, see_limits, ""}};
}

constexpr KnownText full_shared_memory(std::string_view words, std::string_view also, Confidence confidence) {
  return {{words, also},
          Category::bus_error_shared_memory,
          confidence,
          "ran out of shared memory (/dev/shm)",
          {larger_shm, fewer_workers, ""}};
}

constexpr KnownText too_many_threads(std::string_view words) {
  return {{words, ""}, exception, likely, "could not start another thread or process", {more_processes, "", ""}};
}

constexpr auto rows = std::to_array<KnownText>({
    // Memory
    out_of_memory("slurmstepd: error: Detected", "oom", certain, "was killed by Slurm: its memory limit was reached"),
    full_shared_memory("unable to write to file </torch_", "", certain),
    full_shared_memory("out of shared memory", "", likely),
    full_shared_memory("Error while creating shared memory segment", "", likely),
    out_of_memory("MemoryError", "", certain),
    out_of_memory("DefaultCPUAllocator", "", certain),
    out_of_memory("std::bad_alloc", "", certain),
    out_of_memory("Cannot allocate memory", "", likely),

    // Disks
    {{"No space left on device", ""}, exception, certain, "", {free_space, "See how much is left: df -h; df -i", ""}},
    {{"Disk quota exceeded", ""}, exception, certain, "", {free_space, "See your quota: quota -s", ""}},
    {{"Read-only file system", ""},
     exception,
     certain,
     "",
     {"Write to another place: caches follow HF_HOME, TORCH_HOME, XDG_CACHE_HOME and TMPDIR.", "", ""}},

    // Limits
    {{"Too many open files", ""},
     exception,
     certain,
     "",
     {"Raise the limit before the launch: ulimit -n 65536", fewer_workers, ""}},
    too_many_threads("can't start new thread"),
    too_many_threads("libgomp: Thread creation failed"),
    too_many_threads("pthread_create failed"),
    too_many_threads("Resource temporarily unavailable"),

    // Software
    {{"No module named", ""},
     exception,
     certain,
     "",
     {"Install what holds the module {module} for the interpreter that runs the replicas: {python} -m pip install …",
      "If it is installed elsewhere, name that interpreter: --python PATH. A module beside the program is found if its "
      "folder is in PYTHONPATH.",
      ""}},
    {{"bdb.BdbQuit", ""},
     exception,
     likely,
     "stopped in breakpoint() without a terminal",
     {"breakpoint() has no terminal here: give it to the replica that shall stop there, --interactive-rank {rank}, and "
      "start forklift from a terminal.",
      "Else remove the breakpoint(), or run with PYTHONBREAKPOINT=0.", ""}},
    {{"cannot open shared object file", ""},
     exception,
     certain,
     "",
     {"A library that a module needs is not installed, or its folder is not in LD_LIBRARY_PATH (`forklift launch "
      "--dry-run` shows what replicas get).",
      "`ldd` on the module that failed to load lists what is missing.", ""}},
    {{"version `GLIBC", "not found"},
     exception,
     certain,
     "",
     {"A module was built for a newer system than this one: install a build for this system, or use a container.",
      "With conda, its own libstdc++ must come first in LD_LIBRARY_PATH.", ""}},
    {{"undefined symbol", ""},
     exception,
     certain,
     "",
     {"A compiled module does not fit the library it loads: install builds of both that belong together.", "", ""}},
    {{"partially initialized module", ""},
     exception,
     certain,
     "",
     {"A file of yours may hide the module of the same name: rename it, and delete its __pycache__.", "", ""}},
    {{"can't open file", "[Errno 2]"},
     Category::exit_code,
     certain,
     "could not find the script that it should run",
     {"Correct the path of PROGRAM; a relative one counts from the folder in which forklift was started.", "", ""}},
    {{"can't find '__main__' module in", ""},
     Category::exit_code,
     certain,
     "was given a folder that is no Python program",
     {"Name a script in that folder, or give it a __main__.py.", "", ""}},
    {{"AddressSanitizer:", ""},
     Category::abort,
     certain,
     "was ended by AddressSanitizer",
     {"Its report on stderr names the wrong access and where the memory came from.", "", ""}},
    {{"thread '", "panicked at"},
     Category::abort,
     certain,
     "panicked in a component written in Rust",
     {"Run with RUST_BACKTRACE=1 to see where.", "", ""}},
    {{"Error while deserializing header", ""},
     exception,
     certain,
     "could not read a safetensors file: it is damaged or incomplete",
     {"Fetch the file again; an interrupted download, or a Git LFS pointer in its place, is the usual cause.", "", ""}},
    {{"PytorchStreamReader failed", ""},
     exception,
     certain,
     "could not read a checkpoint: the file is damaged or incomplete",
     {"Fetch or write the file again; let one rank write it and rename it into place when it is whole.", "", ""}},
});

}  // namespace

std::span<const KnownText> system_texts() { return rows; }

}  // namespace forklift
