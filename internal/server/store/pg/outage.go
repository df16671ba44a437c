package pg

import (
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
)

// Unavailable reports whether err means that the database, or another service, cannot be reached now: it is
// down, starting or stopping, or has no connection left.
func Unavailable(err error) bool {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return strings.HasPrefix(e.Code, "08") || slices.Contains([]string{"53300", "57P01", "57P02", "57P03"}, e.Code)
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*net.OpError](err); ok {
		return true
	}
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed)
}

// DiskFull reports whether err means that the disk of the database, or another disk, is full.
func DiskFull(err error) bool {
	return Violates(err, "53100") || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
