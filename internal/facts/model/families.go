package model

// styles says, for every model_type that is a decoder, what its code fixes. Source of each: the family's
// configuration_*.py and modeling_*.py in huggingface/transformers 4.57, or the repository of the checkpoint.
var styles = map[string]style{
	"llama":       {family: "llama", norms: 2, normParams: 1, oBias: true},
	"mistral":     {family: "mistral", norms: 2, normParams: 1, fullEvery: 1, defaults: map[string]int{"num_key_value_heads": 8}},
	"mixtral":     {family: "mixtral", norms: 2, normParams: 1, fullEvery: 1, defaults: map[string]int{"num_key_value_heads": 8, "num_local_experts": 8, "num_experts_per_tok": 2}},
	"qwen2":       {family: "qwen2", norms: 2, normParams: 1, qkvBias: true, lateWindow: true, fullEvery: 1, defaults: map[string]int{"max_window_layers": 28}},
	"qwen2_moe":   {family: "qwen2", norms: 2, normParams: 1, qkvBias: true, lateWindow: true, fullEvery: 1, defaults: map[string]int{"max_window_layers": 28, "num_experts_per_tok": 4}},
	"qwen2_vl":    {family: "qwen2", norms: 2, normParams: 1, qkvBias: true, lateWindow: true, fullEvery: 1},
	"qwen3":       {family: "qwen3", norms: 2, normParams: 1, oBias: true, qkNorm: perHeadQKNorm, lateWindow: true, fullEvery: 1, defaults: map[string]int{"head_dim": 128, "max_window_layers": 28}},
	"qwen3_moe":   {family: "qwen3", norms: 2, normParams: 1, oBias: true, qkNorm: perHeadQKNorm, lateWindow: true, fullEvery: 1},
	"qwen3_next":  {family: "qwen3-next", norms: 2, normParams: 1, qkNorm: perHeadQKNorm, defaults: map[string]int{"head_dim": 256, "full_attention_interval": 4}, adjust: qwen3Next},
	"gemma":       {family: "gemma", norms: 2, normParams: 1, oBias: true, tied: true, defaults: map[string]int{"head_dim": 256}},
	"gemma2":      {family: "gemma2", norms: 4, normParams: 1, oBias: true, tied: true, fullEvery: 2, defaults: map[string]int{"head_dim": 256, "sliding_window": 4096}},
	"gemma3_text": {family: "gemma3", norms: 4, normParams: 1, oBias: true, tied: true, qkNorm: perHeadQKNorm, fullEvery: 6, defaults: gemma3Defaults},
	"phi":         {family: "phi", norms: 1, normParams: 2, qkvBias: true, oBias: true, mlpBias: true, plainMLP: true, headBias: true, fourfold: true},
	"phi3":        {family: "phi3", norms: 2, normParams: 1, fullEvery: 1},
	"deepseek_v2": {family: "deepseek", norms: 2, normParams: 1, adjust: latent},
	"deepseek_v3": {family: "deepseek", norms: 2, normParams: 1, adjust: latent},
	"kimi_k2":     {family: "kimi", norms: 2, normParams: 1, adjust: latent},
	"gpt2":        {family: "gpt2", norms: 2, normParams: 2, qkvBias: true, oBias: true, mlpBias: true, plainMLP: true, fourfold: true, tied: true, learned: true, defaults: map[string]int{"max_position_embeddings": 1024}},
	"gpt_bigcode": {family: "starcoder", norms: 2, normParams: 2, qkvBias: true, oBias: true, mlpBias: true, plainMLP: true, fourfold: true, tied: true, learned: true, adjust: multiQuery},
	"gpt_neox":    {family: "gpt-neox", norms: 2, normParams: 2, qkvBias: true, oBias: true, mlpBias: true, plainMLP: true},
	"gptj":        {family: "gpt-j", norms: 1, normParams: 2, mlpBias: true, plainMLP: true, headBias: true, fourfold: true, defaults: map[string]int{"max_position_embeddings": 2048}},
	"opt":         {family: "opt", norms: 2, normParams: 2, qkvBias: true, oBias: true, mlpBias: true, plainMLP: true, tied: true, learned: true, extraRows: 2, adjust: opt},
	"bloom":       {family: "bloom", norms: 2, normParams: 2, qkvBias: true, oBias: true, mlpBias: true, plainMLP: true, fourfold: true, tied: true, defaults: map[string]int{"max_position_embeddings": 2048}, adjust: embeddingNorm},
	"falcon":      {family: "falcon", norms: 2, normParams: 2, plainMLP: true, fourfold: true, tied: true, defaults: map[string]int{"max_position_embeddings": 2048}, adjust: falcon},
	"mpt":         {family: "mpt", norms: 2, normParams: 1, plainMLP: true, fourfold: true, tied: true, defaults: map[string]int{"max_position_embeddings": 2048}, adjust: mpt},
	"internlm":    {family: "internlm", norms: 2, normParams: 1, oBias: true, adjust: internLM},
	"internlm2":   {family: "internlm2", norms: 2, normParams: 1, oBias: true, adjust: internLM},
	"baichuan":    {family: "baichuan", norms: 2, normParams: 1},
	"chatglm":     {family: "glm", norms: 2, normParams: 1, qkvBias: true, adjust: chatGLM},
	"glm":         {family: "glm", norms: 2, normParams: 1, qkvBias: true, defaults: map[string]int{"head_dim": 128}},
	"glm4":        {family: "glm", norms: 4, normParams: 1, defaults: map[string]int{"head_dim": 128}},
	"glm4_moe":    {family: "glm", norms: 2, normParams: 1, qkvBias: true, adjust: glmMoE},
	"cohere":      {family: "cohere", norms: 1, normParams: 1, oBias: true, tied: true, adjust: cohere},
	"cohere2":     {family: "cohere", norms: 1, normParams: 1, oBias: true, tied: true, fullEvery: 4, defaults: map[string]int{"sliding_window": 4096}},
	"gpt_oss":     {family: "gpt-oss", norms: 2, normParams: 1, qkvBias: true, oBias: true, fullEvery: 2, defaults: map[string]int{"head_dim": 64, "num_key_value_heads": 8, "sliding_window": 128}, adjust: gptOSS},
	"llama4_text": {family: "llama4", norms: 2, normParams: 1, oBias: true, fullEvery: 4, defaults: map[string]int{"num_key_value_heads": 8, "head_dim": 128, "attention_chunk_size": 8192}, adjust: llama4},
	"minimax_m2":  {family: "minimax", norms: 2, normParams: 1, oBias: true, adjust: miniMax},
	"starcoder2":  {family: "starcoder", norms: 2, normParams: 2, qkvBias: true, oBias: true, mlpBias: true, plainMLP: true, tied: true, fullEvery: 1},
	"stablelm":    {family: "stablelm", norms: 2, normParams: 2, adjust: useQKVBias},
	"nemotron":    {family: "nemotron", norms: 2, normParams: 2, oBias: true, plainMLP: true},
	"olmo":        {family: "olmo", norms: 2, normParams: 0, oBias: true},
	"olmo2":       {family: "olmo", norms: 2, normParams: 1, oBias: true, qkNorm: wholeQKNorm},
	"granite":     {family: "granite", norms: 2, normParams: 1, oBias: true},
	"smollm3":     {family: "smollm", norms: 2, normParams: 1, oBias: true, tied: true},
}

// gemma3Defaults are Gemma3TextConfig's: the published 4B file leaves out even its heads.
var gemma3Defaults = map[string]int{
	"vocab_size": 262208, "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256,
	"max_position_embeddings": 131072, "sliding_window": 4096,
}

// sameType maps a model_type onto the one whose code it shares.
var sameType = map[string]string{
	"yi": "llama", "Yi": "llama", "aquila": "llama", "mistral3": "mistral", "ministral": "mistral", "qwen2_5_vl": "qwen2_vl", "qwen2_5_vl_text": "qwen2_vl",
	"qwen2_vl_text": "qwen2_vl", "qwen3_vl": "qwen3", "qwen3_vl_text": "qwen3", "qwen3_vl_moe": "qwen3_moe", "qwen3_vl_moe_text": "qwen3_moe",
	"gemma3": "gemma3_text", "llama4": "llama4_text", "RefinedWeb": "falcon", "RefinedWebModel": "falcon",
	"phi-msft": "phi", "qwen3_5_moe": "qwen3_next", "qwen3_5_moe_text": "qwen3_next", "deepseek_v32": "deepseek_v3", "baichuan2": "baichuan",
}

// architectures names the model_type of a file that has only a class name.
var architectures = map[string]string{
	"LlamaForCausalLM": "llama", "MistralForCausalLM": "mistral", "MixtralForCausalLM": "mixtral", "Qwen2ForCausalLM": "qwen2",
	"Qwen3ForCausalLM": "qwen3", "Qwen3MoeForCausalLM": "qwen3_moe", "GemmaForCausalLM": "gemma", "Gemma2ForCausalLM": "gemma2",
	"Gemma3ForCausalLM": "gemma3_text", "Gemma3ForConditionalGeneration": "gemma3", "DeepseekV2ForCausalLM": "deepseek_v2",
	"DeepseekV3ForCausalLM": "deepseek_v3", "GPT2LMHeadModel": "gpt2", "OPTForCausalLM": "opt", "BloomForCausalLM": "bloom",
	"FalconForCausalLM": "falcon", "MPTForCausalLM": "mpt", "BaichuanForCausalLM": "baichuan", "BaiChuanForCausalLM": "baichuan",
	"NemotronForCausalLM": "nemotron", "GptOssForCausalLM": "gpt_oss", "BertModel": "bert", "BertForMaskedLM": "bert", "WhisperForConditionalGeneration": "whisper",
	"ViTForImageClassification": "vit",
}

// assumedStyle is what an unknown decoder is taken to be: pre-norm, gated, without biases unless it says so.
var assumedStyle = style{norms: 2, normParams: 1, oBias: true, fullEvery: 1}
