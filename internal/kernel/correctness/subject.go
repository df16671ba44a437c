package correctness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/goatnote-inc/pawl/internal/base/scratch"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
)

// Subject is a kernel under test.
type Subject interface {
	// Run runs the kernel once and returns every out and inout argument. An error is a
	// *FaultError, which blames the kernel, or wraps ErrUnsupported, or means that nothing
	// more can be tested. After any of them the next Run starts afresh.
	Run(ctx context.Context, t Task) ([]tensor.Tensor, error)
}

// Reference computes the correct result.
type Reference interface {
	// Compute returns the correct result of every out and inout argument. If naive is set
	// and it can, it also returns the result of a naive computation in the argument's own
	// type. An error wraps ErrUnsupported, or means that nothing more can be tested.
	Compute(ctx context.Context, t Task, naive bool) (Expected, error)
}

// Task is the work for a subject or a reference.
type Task struct {
	Benchmark string
	Params    suite.Params
	Arguments []tensor.Argument
	Contents  *Contents
	Poison    uint64 // seed of the outputs' previous content; unused by a reference
}

// Expected is the correct result.
type Expected struct {
	Want  []tensor.Tensor
	Naive []tensor.Tensor // named like those of Want; may be fewer, or none
}

// ErrUnsupported means that a subject or a reference does not support a config. It is not
// a failure.
var ErrUnsupported = errors.New("not supported")

// FaultError is a fault of the kernel other than a wrong result: it crashed, hung, or
// wrote out of bounds.
type FaultError struct {
	Kind    string // "crashed", "hung", "integrity", ...
	Message string
}

func (f *FaultError) Error() string { return f.Message }

// Contents holds the inputs of a point, in memory and, once requested, in a file.
type Contents struct {
	Tensors []tensor.Tensor

	dir  string
	once sync.Once
	path string
	err  error
}

// NewContents returns the contents of tensors, whose file will be in dir.
func NewContents(tensors []tensor.Tensor, dir string) *Contents {
	return &Contents{Tensors: tensors, dir: dir}
}

// File returns the path of a safetensors file with the inputs. Subject and reference
// share it and may ask for it concurrently.
func (c *Contents) File() (string, error) {
	c.once.Do(func() {
		f, err := os.CreateTemp(c.dir, "in-*.safetensors")
		if err != nil {
			c.err = fmt.Errorf("cannot write the inputs: %w", err)
			return
		}
		c.path = f.Name()
		// The folder is private, but in a sandbox the reader may be another user.
		if err := errors.Join(f.Chmod(0o644), tensor.Format(f, c.Tensors), f.Close()); err != nil {
			c.err = fmt.Errorf("cannot write the inputs to %s: %w", c.path, err)
		}
	})
	return c.path, c.err
}

// in returns the same inputs with their own file in another folder.
func (c *Contents) in(dir string) *Contents { return NewContents(c.Tensors, dir) }

// Remove deletes the file if it exists.
func (c *Contents) Remove() {
	c.once.Do(func() { c.err = errors.New("the inputs were already removed") })
	if c.path != "" {
		_ = os.Remove(c.path)
	}
}

// Folder creates a folder for the files of a campaign, in memory if the machine supports
// it: tensors are written, read once, and deleted.
func Folder() (*scratch.Folder, error) {
	parent := ""
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		parent = "/dev/shm"
	}
	dir, err := scratch.New(parent, "fuzz")
	if err != nil && parent != "" {
		dir, err = scratch.New("", "fuzz")
	}
	if err != nil {
		return nil, fmt.Errorf("cannot create a folder for tensors: %w", err)
	}
	return dir, nil
}

// outputs lists the arguments that a kernel writes.
func outputs(arguments []tensor.Argument) []tensor.Argument {
	var list []tensor.Argument
	for _, a := range arguments {
		if a.Role == tensor.Out || a.Role == tensor.InOut {
			list = append(list, a)
		}
	}
	return list
}
