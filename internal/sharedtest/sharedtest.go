// Package sharedtest finds the reference data that lies beside the checkout: published measurements, real
// prices and traces that the tests hold Rackrate against and that are too large, or not ours, to copy.
//
// Only tests import it. Whoever has no such folder can still run every other test.
package sharedtest

import (
	"os"
	"testing"
)

// Env names the variable that says where the folder is.
const Env = "RACKRATE_SHARED"

// Dir is the shared folder. Without the variable the test is skipped; with one that names no folder it fails,
// so that a typing error can never pass for success.
func Dir(t testing.TB) string {
	t.Helper()
	dir := os.Getenv(Env)
	if dir == "" {
		t.Skip(Env + " is not set: it names the folder of reference data, such as ../shared")
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		t.Fatalf("%s=%s names no folder", Env, dir)
	}
	return dir
}
