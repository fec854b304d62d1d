package app

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rackrate/rackrate/internal/base/packed"
	"github.com/rackrate/rackrate/internal/base/problem"
)

// maxInput bounds a file or stream that a command reads; the largest known catalog is a tenth of it.
const maxInput = 64 << 20

// disk is the real file system.
type disk struct{}

func (disk) Read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	data, err := readAll(f, path)
	return data, errors.Join(err, f.Close())
}

func (disk) Under(path string, suffixes ...string) ([]string, error) {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return []string{path}, nil // reading it will tell what is wrong with it
	}
	var files []string
	err := filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && slices.ContainsFunc(suffixes, func(end string) bool { return strings.HasSuffix(strings.ToLower(file), end) }) {
			files = append(files, file)
		}
		return err
	})
	return files, err
}

func (disk) Modified(path string) (time.Time, error) {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}

// Create writes beside the file and then swaps, so that nobody finds half of it. A new file's name is claimed first.
func (disk) Create(path string, data []byte, over bool) (err error) {
	undo := func(name string) {
		if err != nil {
			err = errors.Join(err, os.Remove(name))
		}
	}
	if !over {
		claim, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return err
		}
		defer undo(path)
		if err := claim.Close(); err != nil {
			return err
		}
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".rackrate-*")
	if err != nil {
		return err
	}
	defer undo(f.Name())
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

func (disk) Folder(path string) error { return os.MkdirAll(path, 0o700) }

func (disk) Remove(path string) error { return os.Remove(path) }

func readAll(r io.Reader, name string) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxInput+1))
	if err == nil && len(data) > maxInput {
		return nil, problem.New(problem.Input, "cli.too_large", problem.Args{"Path": name, "Limit": maxInput >> 20})
	}
	return data, err
}

// ReadInput reads a file that the user named, or standard input for "-". The name it gives is for the places of faults.
func (a *App) ReadInput(path string) (name string, data []byte, err error) {
	if path == "-" {
		data, err = readAll(a.In, "-")
		name = "<stdin>"
	} else {
		data, err = a.Files.Read(path)
		name = path
	}
	if err == nil {
		return name, data, nil
	}
	if problems := problem.All(err); problems[0].Code != "internal" {
		return name, nil, err
	}
	return name, nil, unreadable(path, err)
}

// ReadTable reads an input that may be in gzip.
func (a *App) ReadTable(path string) (name string, data []byte, err error) {
	name, data, err = a.ReadInput(path)
	if err != nil {
		return name, nil, err
	}
	if data, err = packed.Plain(data); err != nil {
		return name, nil, problem.New(problem.Input, "cli.unreadable", problem.Args{"Path": path, "Error": err.Error()}).Wrap(err)
	}
	return name, data, nil
}

// reason is an error of the file system without the path, which the message names already.
func reason(err error) string {
	if pe, ok := errors.AsType[*os.PathError](err); ok {
		return pe.Err.Error()
	}
	return err.Error()
}

// Beside opens files that are named relative to another file.
func (a *App) Beside(file string) func(path string) ([]byte, error) {
	dir := filepath.Dir(file)
	if file == "-" {
		dir = "."
	}
	return func(path string) ([]byte, error) {
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		return a.Files.Read(path)
	}
}
