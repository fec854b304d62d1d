// Package data is the embedded facts: one file per kind, every row with its source and date. The packages
// under internal/facts decode and check them; nothing else reads them.
package data

import "embed"

// FS holds every embedded file by its path below data/.
//
//go:embed *
var FS embed.FS
