//go:build unix

package store_test

import (
	"os"
	"os/signal"
	"syscall"
)

// becomeNobody drops root's right to read and write everything.
func becomeNobody() error {
	if os.Getuid() != 0 {
		return nil
	}
	if err := syscall.Setgid(65534); err != nil {
		return err
	}
	return syscall.Setuid(65534)
}

// allowNoLargeFiles makes writing beyond a size fail.
func allowNoLargeFiles(most uint64) error {
	signal.Ignore(syscall.SIGXFSZ) // which would end the process instead
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: most, Max: most})
}
