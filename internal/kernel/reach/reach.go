package reach

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"

	"github.com/goatnote-inc/pawl/internal/kernel/build/cuda"
)

// maxFile is the max size of a file in bytes. A larger one is not read.
const maxFile = 256 << 20

// elfHeader is the size of the header of a 64-bit ELF file.
const elfHeader = 64

// ErrUnsupported means that kernels in a file of this kind cannot be identified.
var ErrUnsupported = errors.New("only shared objects for x86-64 and cubins can be examined")

// File is a compiled file with kernels.
type File struct {
	kernel func(symbol string) (string, error)
}

// Open reads a shared object for x86-64, with objdump, or a cubin.
func Open(ctx context.Context, path string) (*File, error) {
	data, err := read(path)
	if err != nil {
		return nil, fmt.Errorf("cannot examine %s: %w", path, err)
	}
	switch machine(data) {
	case elf.EM_X86_64:
		var o *object
		if o, err = openObject(ctx, path, data); err == nil {
			return &File{o.kernel}, nil
		}
	case cuda.Machine:
		var c *cubin
		if c, err = openCubin(data); err == nil {
			return &File{c.kernel}, nil
		}
	default:
		err = ErrUnsupported
	}
	return nil, fmt.Errorf("cannot examine %s: %w", path, err)
}

// Kernel returns the digest of everything that a kernel can execute and read. The error says why it is not known.
func (f *File) Kernel(symbol string) (string, error) { return f.kernel(symbol) }

func read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, fmt.Errorf("it is no regular file of at most %d MB", maxFile>>20)
	}
	return io.ReadAll(io.LimitReader(f, maxFile))
}

// machine returns the machine of a 64-bit little-endian ELF file.
func machine(data []byte) elf.Machine {
	if len(data) < elfHeader || !bytes.HasPrefix(data, []byte(elf.ELFMAG)) ||
		elf.Class(data[elf.EI_CLASS]) != elf.ELFCLASS64 || elf.Data(data[elf.EI_DATA]) != elf.ELFDATA2LSB {
		return elf.EM_NONE
	}
	return elf.Machine(binary.LittleEndian.Uint16(data[18:]))
}

func sum(h hash.Hash) string { return "sha256:" + hex.EncodeToString(h.Sum(nil)) }

func digestOf(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d %s\n", len(p), p)
	}
	return sum(h)
}
