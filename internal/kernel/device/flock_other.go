//go:build !unix

package device

import (
	"errors"
	"io/fs"
	"os"
)

const nonBlocking = 0

func tryLock(*os.File) (bool, error) { return false, errors.ErrUnsupported }

func links(fs.FileInfo) uint64 { return 1 }

func ours(fs.FileInfo) bool { return false }
