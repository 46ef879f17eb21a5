// Replicas that wait for each other, and machines that are taken away.
#include "launcher/diagnose/known_texts.hpp"

namespace forklift {
namespace {

constexpr Confidence certain = Confidence::certain;
constexpr Confidence likely = Confidence::likely;

constexpr std::string_view waited = "waited too long for the other replicas in a collective operation";
constexpr std::string_view never_joined = "waited too long for the other replicas to join";

constexpr std::string_view same_order =
    "Every replica must make the same collective calls in the same order: look for a branch on the rank, or data of "
    "different length.";
constexpr std::string_view look_elsewhere =
    "Look at the output of the other ranks: one of them is slow, stuck, or has left.";
constexpr std::string_view longer =
    "If a replica rightly takes long (checkpoint, evaluation), raise the limit: init_process_group(timeout=…).";
constexpr std::string_view reachable =
    "See that MASTER_ADDR can be reached from every machine, that no firewall closes its port, and that "
    "GLOO_SOCKET_IFNAME or NCCL_SOCKET_IFNAME names the right network.";
constexpr std::string_view all_started =
    "See that all {world_size} replicas were started, on every machine with the same --num-machines and another "
    "--machine-rank.";

constexpr KnownText timeout(std::string_view words, std::string_view also = "", Confidence confidence = certain) {
  return {{words, also}, Category::collective_timeout, confidence, waited, {look_elsewhere, same_order, longer}};
}

constexpr KnownText not_joined(std::string_view words, std::string_view also = "") {
  return {{words, also}, Category::collective_timeout, certain, never_joined, {all_started, reachable, ""}};
}

constexpr KnownText unreachable(std::string_view words, Confidence confidence) {
  return {{words, ""},
          Category::python_exception,
          confidence,
          "could not reach the master process",
          {"If rank 0 failed first, its output says why.", reachable, ""}};
}

constexpr KnownText preempted(std::string_view words, std::string_view predicate, Confidence confidence = certain) {
  return {{words, ""},
          Category::preempted,
          confidence,
          predicate,
          {"Save checkpoints regularly and continue from the last one; --checkpoint-signal asks for one before a known "
           "end.",
           "", ""}};
}

constexpr auto rows = std::to_array<KnownText>({
    // Timeouts that name the join come before those of an operation.
    not_joined("waiting for clients"),
    not_joined("Timed out initializing process group in store based barrier"),
    not_joined("DEADLINE_EXCEEDED", "RegisterTask"),
    timeout("Watchdog caught collective operation timeout"),
    timeout("Timed out waiting", "ms for"),
    timeout("wait timeout after"),
    timeout("failed to pass monitoredBarrier"),
    timeout("Detected mismatch between collectives on ranks"),
    timeout("DEADLINE_EXCEEDED", "arrier"),
    timeout("Socket Timeout", "", likely),
    timeout("HorovodInternalError", "timed out", likely),
    {{"DDP expects same model across all ranks", ""},
     Category::python_exception,
     certain,
     "has another model than the other replicas",
     {"Build the same model on every rank: no branch on the rank, the same configuration and number of classes.", "",
      ""}},

    // The rendezvous
    unreachable("The client socket has failed to connect", certain),
    unreachable("failed to connect to all addresses", likely),
    unreachable("ConnectionRefusedError", Confidence::possible),
    {{"Name or service not known", ""},
     Category::python_exception,
     likely,
     "could not resolve the name of a machine",
     {"See that MASTER_ADDR (--main-process-ip) is a name that every machine knows, or use its address.", "", ""}},
    {{"Temporary failure in name resolution", ""},
     Category::python_exception,
     likely,
     "could not resolve the name of a machine",
     {"See that MASTER_ADDR (--main-process-ip) is a name that every machine knows, or use its address.", "", ""}},
    {{"unhandled system error", "NCCL"},
     Category::python_exception,
     likely,
     "failed inside NCCL",
     {"Run with NCCL_DEBUG=INFO: its lines before the end name the call and the network that failed.",
      "In a container, /dev/shm may be too small: docker run --shm-size=8g", reachable}},

    // Taken away
    preempted("DUE TO PREEMPTION", "was ended by Slurm: the job was preempted"),
    preempted("DUE TO TIME LIMIT", "was ended by Slurm: the time limit of the job was reached"),
    preempted("DUE TO NODE FAILURE", "was ended by Slurm: a node failed"),
    preempted("was preempted", "ended because a machine was preempted", likely),
    preempted("has been preempted", "ended because a machine was preempted", likely),
    preempted("maintenance event", "ended because of maintenance of the machine", likely),
});

}  // namespace

std::span<const KnownText> collective_texts() { return rows; }

}  // namespace forklift
