// Command rackrate helps a team choose, prove and operate rented accelerators.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"

	"github.com/rackrate/rackrate/internal/front/cli"
)

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400) // a command lives for a second: a fifth of its time went into freeing memory
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := cli.Main(ctx, os.Args[1:], cli.Stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
	stop()
	os.Exit(code)
}
