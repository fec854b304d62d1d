package main

import (
	"slices"

	"github.com/rackrate/rackrate/internal/facts/catalog"
)

const (
	apache    = "Apache-2.0"
	notStated = "not stated" // figures only are taken from it
)

// sources are all references a row may give. Dates are as the reference states them.
var sources = []catalog.Source{
	{ID: "aws-karpenter", Title: "AWS list prices in Karpenter's generated tables", Reference: "https://github.com/aws/karpenter-provider-aws v1.15.2", Date: "2026-07-20 (us-east-1), 2026-08-24 (gov)", Licence: apache},
	{ID: "aws-karpenter-docs", Title: "Instance types in Karpenter's documentation", Reference: "https://github.com/aws/karpenter-provider-aws 1d92708", Date: "2026-07-11", Licence: apache},
	{ID: "aws-tsaol", Title: "AWS accelerator prices by region", Reference: "https://github.com/tsaol/aws-gpu 77fcd9f", Date: "2026-01-21; China 2025-11-30..2026-01-21", Licence: notStated},
	{ID: "aws-vantage", Title: "EC2 instance data of vantage.sh: prices, reserved, spot range", Reference: "https://github.com/cristim/ec2-instances-info v0.0.0-20250528091325-32acf84f42eb", Date: "2025-05-28", Licence: notStated},
	{ID: "azure-karpenter", Title: "Azure list prices in Karpenter's generated tables", Reference: "https://github.com/Azure/karpenter-provider-azure 352646f", Date: "2026-06-18", Licence: apache},
	{ID: "azure-vantage", Title: "Azure instance data of vantage.sh: reserved and savings plan prices", Reference: "https://github.com/cristim/ec2-instances-info v0.0.0-20250528091325-32acf84f42eb", Date: "2025-05-28", Licence: notStated},
	{ID: "anycloud", Title: "Cloud catalog in SkyPilot's format", Reference: "https://github.com/anycloud-sh/catalog 62ff0a987e0c257a89235415d2877812fb1aaf29", Date: "Azure and GCP 2026-05-20, Lambda 2026-05-07, Vast 2026-04-29", Licence: notStated},
	{ID: "gcp-karpenter", Title: "GCP prices of whole machines in Karpenter's initial table", Reference: "https://github.com/cloudpilot-ai/karpenter-provider-gcp 417f047", Date: "2026-08-03", Licence: apache},
	{ID: "gcp-cyclenerd", Title: "GCP machine types by region", Reference: "https://github.com/Cyclenerd dac3128", Date: "2026-08-20", Licence: notStated},
	{ID: "alibaba-priceserver", Title: "Alibaba Cloud price page (aliyun.com), in CNY", Reference: "https://github.com/cloudpilot-ai/priceserver de6fe92", Date: "2024-10-09", Licence: apache},
	{ID: "tencent-hpc", Title: "Tencent Cloud list of GPU instance types, without prices", Reference: "https://cloud.tencent.com/document/product/1646", Date: "2026, undated", Licence: notStated},
	{ID: "quotes-privum", Title: "AI compute prices, a community collection", Reference: "https://huggingface.co/datasets/privum/ai-compute-prices", Date: "2026-08-19", Licence: notStated},
	{ID: "quotes-datareceipts", Title: "GPU prices of vendors, collected", Reference: "https://github.com/datareceipts/data-receipts 109-gpu-pricing/vendors.json", Date: "2026-11-09", Licence: notStated},
	{ID: "quotes-silybench", Title: "Costs used in a benchmark", Reference: "https://github.com/tgarg01/silybench-data derived/cost.json", Date: "2026-09-25", Licence: notStated},
	{ID: "quotes-gpu-price-index", Title: "GPU price index of Chinese sellers", Reference: "https://huggingface.co/datasets/brian8808/gpu-price-index", Date: "2026, undated", Licence: notStated},
	{ID: "modal-evangelist", Title: "Modal per-second prices, transcribed from modal.com/pricing", Reference: "https://github.com/api-evangelist/modal-labs plans/modal-labs-plans-pricing.yml bd58ef0", Date: "2026-07-01", Licence: notStated},
	{ID: "runpod-docs", Title: "RunPod serverless prices of flex workers, by the second", Reference: "https://docs.runpod.io/serverless/pricing", Date: "undated, not before 2025-03", Licence: notStated},
	{ID: "quotes-secondary", Title: "Vendor prices quoted in public repositories", Reference: "public GitHub source text, found by search", Date: "2026-01..2026-07", Licence: notStated},
}

// usedSources lists the sources that some row names, those of the SkyPilot files included.
func usedSources(b *builder) []catalog.Source {
	used := map[string]bool{}
	for _, m := range b.machines {
		used[m.Source] = true
	}
	for _, p := range b.prices {
		used[p.Source] = true
	}
	all := slices.Clone(sources)
	for _, f := range skyPilotFiles {
		if f.commit != "" {
			all = append(all, catalog.Source{
				ID: f.source(), Title: "SkyPilot catalog: " + f.provider,
				Reference: "https://github.com/skypilot-org/skypilot-catalog " + f.commit,
				Date:      "undated, not before " + f.asOf, Licence: apache,
			})
		}
	}
	return slices.DeleteFunc(all, func(s catalog.Source) bool { return !used[s.ID] })
}
