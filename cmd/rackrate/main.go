// Command rackrate helps a team choose, prove and operate rented accelerators.
package main

import (
	"context"
	"os"
	"os/signal"

	"github.com/rackrate/rackrate/internal/front/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := cli.Main(ctx, os.Args[1:], cli.Stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
	stop()
	os.Exit(code)
}
