package main

import (
	"fmt"
	"path"
	"strings"

	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// form says which chip a provider's family of machines carries where the source names the chip loosely.
type form struct {
	provider, types string // a pattern of instance types, as of path.Match
	chip            string // canonical
	flag            catalog.Flag
}

// forms is searched in order. Families without a flag are documented by the vendor or told apart by its own names;
// the others follow from what is generally known of the family and say so.
var forms = []form{
	{"aws", "p3dn.*", "V100-SXM2-32GB", ""},
	{"aws", "p3.*", "V100-SXM2-16GB", ""},
	{"aws", "p4de.*", "A100-SXM-80GB", ""},
	{"aws", "p4d.*", "A100-SXM-40GB", ""},
	{"aws", "p5.*", "H100-SXM-80GB", ""},
	{"aws", "p5e*", "H200-SXM-141GB", ""},
	{"aws", "g7e.*", "RTX-PRO-6000-Blackwell-Server", ""},
	{"aws", "inf1.*", "Inferentia1", ""},
	{"aws", "inf2.*", "Inferentia2", ""},
	{"aws", "trn1*", "Trainium1", ""},
	{"aws", "trn2*", "Trainium2", ""},

	// "H100" is the 94 GB NVL part on NC and the 80 GB SXM part on ND; "am" sizes of ND A100 v4 carry the 80 GB part.
	{"azure", "Standard_NC40ads_H100*", "H100-NVL-94GB", ""},
	{"azure", "Standard_NC80adis_H100*", "H100-NVL-94GB", ""},
	{"azure", "Standard_NCC40ads_H100*", "H100-NVL-94GB", ""},
	{"azure", "Standard_ND96is_flex_H100*", "H100-SXM-80GB", catalog.FormFactorAssumed},
	{"azure", "Standard_ND96is_noIB_H100*", "H100-SXM-80GB", catalog.FormFactorAssumed},
	{"azure", "Standard_ND96isr_H200*", "H200-SXM-141GB", ""},
	{"azure", "Standard_ND96am*", "A100-SXM-80GB", ""},
	{"azure", "Standard_ND96as*", "A100-SXM-40GB", ""},
	{"azure", "Standard_ND40*", "V100-SXM2-32GB", ""},
	{"azure", "Standard_ND96is*", "H100-SXM-80GB", ""}, // after H200; agrees keeps MI300X out
	{"azure", "Standard_NC6s_v3*", "V100-PCIe-16GB", ""},
	{"azure", "Standard_NC12s_v3*", "V100-PCIe-16GB", ""},
	{"azure", "Standard_NC24s_v3*", "V100-PCIe-16GB", ""},
	{"azure", "Standard_NC24rs_v3*", "V100-PCIe-16GB", ""},
	{"azure", "Standard_NC24ads_A100*", "A100-PCIe-80GB", ""},
	{"azure", "Standard_NC48ads_A100*", "A100-PCIe-80GB", ""},
	{"azure", "Standard_NC96ads_A100*", "A100-PCIe-80GB", ""},

	{"gcp", "a2-highgpu*", "A100-SXM-40GB", ""},
	{"gcp", "a2-megagpu*", "A100-SXM-40GB", ""},
	{"gcp", "a2-ultragpu*", "A100-SXM-80GB", ""},
	{"gcp", "a3-ultragpu*", "H200-SXM-141GB", ""},
	{"gcp", "a3-*", "H100-SXM-80GB", ""},
	{"gcp", "g4-*", "RTX-PRO-6000-Blackwell-Server", ""},

	{"alibaba", "ecs.gn6v*", "V100-SXM2-16GB", catalog.FormFactorAssumed},
	{"alibaba", "ecs.ebmgn6v*", "V100-SXM2-16GB", catalog.FormFactorAssumed},
	{"alibaba", "ecs.gn6e*", "V100-SXM2-32GB", catalog.FormFactorAssumed},
	{"alibaba", "ecs.gn7e*", "A100-SXM-80GB", catalog.FormFactorAssumed},
	{"alibaba", "ecs.ebmgn7e*", "A100-SXM-80GB", catalog.FormFactorAssumed},
	{"alibaba", "ecs.gn5-*", "P100-PCIe-16GB", catalog.FormFactorAssumed},
	{"alibaba", "ecs.gn8v*", "H20-96GB", catalog.AcceleratorInferred}, // 96 GB each, family known to carry H20

	{"tencent", "GT4.*", "A100-SXM-40GB", catalog.FormFactorAssumed},
	{"tencent", "GN10X*", "V100-SXM2-32GB", catalog.FormFactorAssumed},

	{"oci", "BM.GPU4.*", "A100-SXM-40GB", ""},
	{"oci", "BM.GPU.A100-v2*", "A100-SXM-80GB", ""},
	{"oci", "BM.GPU.H100.*", "H100-SXM-80GB", ""},
	{"oci", "BM.GPU.H200.*", "H200-SXM-141GB", ""},
	{"oci", "BM.GPU.RTXPRO.*", "RTX-PRO-6000-Blackwell-Server", catalog.FormFactorAssumed},
	{"oci", "BM.GPU3.*", "V100-SXM2-16GB", catalog.FormFactorAssumed},
	{"oci", "VM.GPU3.*", "V100-SXM2-16GB", catalog.FormFactorAssumed},

	{"lambda", "gpu_8x_a100*", "A100-SXM-40GB", catalog.FormFactorAssumed}, // _80gb_sxm4 says so itself
	{"lambda", "gpu_8x_v100*", "V100-SXM2-16GB", catalog.FormFactorAssumed},

	// RunPod sells PCIe and SXM under two names; the bare one is the card. Its H100 have 80 GB.
	{"runpod", "?x_H100_*", "H100-PCIe-80GB", ""},
	{"runpod", "?x_H100-SXM_*", "H100-SXM-80GB", ""},
	{"runpod", "?x_A100-80GB_*", "A100-PCIe-80GB", ""},

	// Vast's device names tell NVL parts apart (H100_NVL), so the bare name is taken for the other form.
	{"vast", "?x-H200-*", "H200-SXM-141GB", catalog.FormFactorAssumed},

	{"digitalocean", "gpu-h100x*", "H100-SXM-80GB", catalog.FormFactorAssumed},
	{"paperspace", "H100*", "H100-SXM-80GB", catalog.FormFactorAssumed},
	{"verda", "1V100.*", "V100-SXM2-16GB", catalog.FormFactorAssumed},
	{"verda", "1A100.*", "A100-SXM-80GB", catalog.FormFactorAssumed},
	{"verda", "4A100.*", "A100-SXM-80GB", catalog.FormFactorAssumed},

	// A broker's machine is what its owner's is above; DataCrunch is Verda's former name.
	{"primeintellect", "datacrunch__?xA100_80GB__*", "A100-SXM-80GB", catalog.FormFactorAssumed},
	{"primeintellect", "datacrunch__?xV100_16GB__*", "V100-SXM2-16GB", catalog.FormFactorAssumed},
	{"primeintellect", "lambdalabs__8xA100_40GB__*", "A100-SXM-40GB", catalog.FormFactorAssumed},
	{"primeintellect", "lambdalabs__8xV100_16GB__*", "V100-SXM2-16GB", catalog.FormFactorAssumed},
}

// identify finds the chip of a machine: by the provider's family first, else by what the source says.
func (b *builder) identify(provider, instanceType string, ev catalog.Evidence) (*accelerator.Accelerator, []catalog.Flag) {
	for _, f := range forms {
		if fits, _ := path.Match(f.types, instanceType); !fits || f.provider != provider || !agrees(f, instanceType, ev) {
			continue
		}
		chip, ok := b.chips.Get(f.chip)
		if !ok {
			panic("catalogbuild: no accelerator " + f.chip)
		}
		return chip, withFlags(nil, f.flag)
	}
	id, ok := catalog.Identify(b.chips, ev)
	switch {
	case ev.Name == "":
		b.report.left(provider, "no accelerator named: "+instanceType)
	case !ok:
		b.report.left(provider, "unknown accelerator: "+ev.Name)
	case id.Mismatch:
		b.report.left(provider, fmt.Sprintf("memory does not fit: %s with %g MiB for %g", ev.Name, ev.MiB, ev.Count))
	default:
		return id.Chip, id.Flags
	}
	return nil, nil
}

// machineOf starts a machine from the columns that three of the tables share; nil, with an entry in the report, where
// the chip or the count is not known.
func (b *builder) machineOf(provider string, r record) *catalog.Machine {
	instance := r.get("instance_type")
	count, ok := parseShare(r.get("count"))
	if !ok {
		b.report.left(provider, "count of accelerators missing: "+instance)
		return nil
	}
	ev := catalog.Evidence{Name: r.get("accelerator"), MiB: r.number("gpu_mem_mib").Or(0), Count: count}
	chip, flags := b.identify(provider, instance, ev)
	if chip == nil {
		return nil
	}
	return &catalog.Machine{
		Provider: provider, InstanceType: instance, Accelerator: chip, Count: count,
		VCPU: r.number("vcpu"), RAM: r.mib("mem_mib"), Flags: flags,
	}
}

// agrees keeps a family rule from overriding a source that names another chip, as MI300X on ND96is.
func agrees(f form, instanceType string, ev catalog.Evidence) bool {
	if ev.Name == "" {
		return true
	}
	family, _, _ := strings.Cut(f.chip, "-")
	switch {
	case strings.Contains(instanceType, "80gb_sxm4") && f.chip == "A100-SXM-40GB":
		return false
	case family == "RTX" || strings.HasPrefix(f.chip, "Inferentia") || strings.HasPrefix(f.chip, "Trainium"):
		return true
	}
	return strings.Contains(strings.ToUpper(ev.Name), family) || f.flag == catalog.AcceleratorInferred
}
