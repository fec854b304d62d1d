package model

import "github.com/rackrate/rackrate/internal/base/problem"

var dtypes = map[string]Format{
	"bfloat16": "bf16", "float16": "fp16", "float32": "fp32", "half": "fp16", "float": "fp32",
	"torch.bfloat16": "bf16", "torch.float16": "fp16", "float8_e4m3fn": "fp8",
}

// native reads what the checkpoint ships in: the quantization_config first, then the dtype. A method nobody here
// knows leaves the format unknown rather than guessed, with a note.
func native(r *reader) (Format, string) {
	dtype := dtypes[r.str("torch_dtype")]
	q := r.inner("quantization_config")
	if q == nil {
		q = r.inner("compression_config")
	}
	if q == nil {
		return dtype, ""
	}
	format := quantized(q)
	r.faults = append(r.faults, q.faults...)
	if format == "" {
		return "", "quantization.unknown"
	}
	return format, ""
}

func quantized(q *reader) Format {
	bits, _ := q.integer("bits", 1, 32)
	switch q.str("quant_method") {
	case "fp8", "fbgemm_fp8":
		return "fp8"
	case "awq":
		return "awq"
	case "gptq":
		if bits == 8 {
			return "int8-weight-only"
		}
		return "gptq"
	case "mxfp4":
		return "mxfp4"
	case "bitsandbytes":
		if q.flag("load_in_4bit", false) || q.flag("_load_in_4bit", false) {
			return "nf4"
		}
		return "int8"
	case "compressed-tensors":
		return compressed(q)
	case "modelopt", "nvfp4", "":
		switch q.str("quant_algo") {
		case "NVFP4":
			return "nvfp4"
		case "FP8":
			return "fp8"
		}
	}
	return ""
}

// compressed reads vLLM's compressed-tensors, whose bits are in the first of its groups.
func compressed(q *reader) Format {
	switch q.str("format") {
	case "nvfp4-pack-quantized":
		return "nvfp4"
	case "float-quantized":
		return "fp8"
	case "int-quantized":
		return "int8"
	case "pack-quantized":
		groups, _, _ := q.find("config_groups")
		for _, group := range groups.vals {
			weights, _ := group.get("weights")
			bits, ok := weights.get("num_bits")
			switch {
			case ok && bits.text == "4":
				return "int4"
			case ok && bits.text == "8":
				return "int8-weight-only"
			}
		}
	}
	return ""
}

// unsupported is a fault for a network that no code here can count.
func unsupported(r *reader, kind string) {
	r.fault("config.unsupported", r.line(), problem.Args{"Type": kind})
}
