// accelerate's plugin groups. Their selectors are refused in this version; their details are accepted and named.
#pragma once

#include <array>
#include <string_view>

#include "launcher/request/flag_table.hpp"

namespace forklift {

constexpr Flag plugin_selector(std::string_view name, std::string_view what) {
  return {.name = name,
          .tool = Tool::accelerate,
          .group = FlagGroup::environment,
          .status = FlagStatus::refused,
          .text = what};
}

constexpr Flag plugin_detail(std::string_view selector, std::string_view name) {
  return {.name = name,
          .value = "VALUE",
          .tool = Tool::accelerate,
          .group = FlagGroup::environment,
          .status = FlagStatus::dependent,
          .text = selector};
}

constexpr Flag plugin_switch(std::string_view selector, std::string_view name) {
  Flag flag = plugin_detail(selector, name);
  flag.value = {};
  return flag;
}

constexpr Flag deepspeed_detail(std::string_view name) { return plugin_detail("--use-deepspeed", name); }
constexpr Flag fsdp_detail(std::string_view name) { return plugin_detail("--use-fsdp", name); }
constexpr Flag megatron_detail(std::string_view name) { return plugin_detail("--use-megatron-lm", name); }
constexpr Flag parallelism_detail(std::string_view name) { return plugin_detail("--use-parallelism-config", name); }
constexpr Flag fp8_detail(std::string_view name) { return plugin_detail("an fp8 back-end", name); }

inline constexpr auto plugin_flags = std::to_array<Flag>({
    plugin_switch("--tpu-cluster", "tpu-use-sudo"),
    plugin_detail("--tpu-cluster", "vm"),

    fp8_detail("fp8-backend"),
    plugin_switch("an fp8 back-end", "fp8-use-autocast-during-eval"),
    fp8_detail("fp8-margin"),
    fp8_detail("fp8-interval"),
    fp8_detail("fp8-format"),
    fp8_detail("fp8-amax-history-len"),
    fp8_detail("fp8-amax-compute-algo"),
    fp8_detail("fp8-override-linear-precision"),
    fp8_detail("fp8-opt-level"),
    fp8_detail("fp8-enable-fsdp-float8-all-gather"),
    fp8_detail("fp8-pad-inner-dim"),

    plugin_selector("use-deepspeed", "DeepSpeed"),
    deepspeed_detail("deepspeed-config-file"),
    deepspeed_detail("zero-stage"),
    deepspeed_detail("offload-optimizer-device"),
    deepspeed_detail("offload-param-device"),
    deepspeed_detail("offload-optimizer-nvme-path"),
    deepspeed_detail("offload-param-nvme-path"),
    deepspeed_detail("gradient-accumulation-steps"),
    deepspeed_detail("gradient-clipping"),
    deepspeed_detail("zero3-init-flag"),
    deepspeed_detail("zero3-save-16bit-model"),
    deepspeed_detail("deepspeed-hostfile"),
    deepspeed_detail("deepspeed-exclusion-filter"),
    deepspeed_detail("deepspeed-inclusion-filter"),
    deepspeed_detail("deepspeed-multinode-launcher"),
    deepspeed_detail("deepspeed-moe-layer-cls-names"),

    plugin_selector("use-fsdp", "FSDP"),
    fsdp_detail("fsdp-version"),
    fsdp_detail("fsdp-offload-params"),
    fsdp_detail("fsdp-min-num-params"),
    fsdp_detail("fsdp-sharding-strategy"),
    fsdp_detail("fsdp-reshard-after-forward"),
    fsdp_detail("fsdp-auto-wrap-policy"),
    fsdp_detail("fsdp-transformer-layer-cls-to-wrap"),
    fsdp_detail("fsdp-backward-prefetch"),
    fsdp_detail("fsdp-state-dict-type"),
    fsdp_detail("fsdp-forward-prefetch"),
    fsdp_detail("fsdp-use-orig-params"),
    fsdp_detail("fsdp-cpu-ram-efficient-loading"),
    fsdp_detail("fsdp-sync-module-states"),
    fsdp_detail("fsdp-activation-checkpointing"),

    plugin_selector("use-megatron-lm", "Megatron-LM"),
    megatron_detail("megatron-lm-tp-degree"),
    megatron_detail("megatron-lm-pp-degree"),
    megatron_detail("megatron-lm-num-micro-batches"),
    megatron_detail("megatron-lm-sequence-parallelism"),
    megatron_detail("megatron-lm-recompute-activations"),
    megatron_detail("megatron-lm-use-distributed-optimizer"),
    megatron_detail("megatron-lm-gradient-clipping"),
    megatron_detail("megatron-lm-use-custom-fsdp"),
    megatron_detail("megatron-lm-no-load-optim"),
    megatron_detail("megatron-lm-no-save-optim"),
    megatron_detail("megatron-lm-eod-mask-loss"),
    megatron_detail("megatron-lm-overlap-cpu-optimizer-d2h-h2d"),
    megatron_detail("megatron-lm-optimizer-cpu-offload"),
    megatron_detail("megatron-lm-use-precision-aware-optimizer"),
    megatron_detail("megatron-lm-decoder-last-pipeline-num-layers"),
    megatron_detail("megatron-lm-recompute-granularity"),
    megatron_detail("megatron-lm-recompute-method"),
    megatron_detail("megatron-lm-recompute-num-layers"),
    megatron_detail("megatron-lm-attention-backend"),
    megatron_detail("megatron-lm-expert-model-parallel-size"),
    megatron_detail("megatron-lm-context-parallel-size"),
    megatron_detail("megatron-lm-attention-dropout"),
    megatron_detail("megatron-lm-hidden-dropout"),
    megatron_detail("megatron-lm-attention-softmax-in-fp32"),
    megatron_detail("megatron-lm-expert-tensor-parallel-size"),
    megatron_detail("megatron-lm-calculate-per-token-loss"),
    megatron_detail("megatron-lm-use-rotary-position-embeddings"),

    plugin_selector("use-parallelism-config", "a parallelism configuration"),
    parallelism_detail("parallelism-config-dp-replicate-size"),
    parallelism_detail("parallelism-config-dp-shard-size"),
    parallelism_detail("parallelism-config-tp-size"),
    parallelism_detail("parallelism-config-cp-size"),
    parallelism_detail("parallelism-config-cp-backend"),
    parallelism_detail("parallelism-config-cp-comm-strategy"),
    parallelism_detail("parallelism-config-sp-size"),
    parallelism_detail("parallelism-config-sp-backend"),
    parallelism_detail("parallelism-config-sp-seq-length"),
    parallelism_detail("parallelism-config-sp-seq-length-is-variable"),
    parallelism_detail("parallelism-config-sp-attn-implementation"),
});

}  // namespace forklift
