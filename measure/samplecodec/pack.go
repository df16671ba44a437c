package samplecodec

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// magic is the start of a file: its format, followed by the compression of the rest.
const magic = "pawl.samples/v1\n"

const (
	stored     = 0
	compressed = 1
)

// Limits of unpacking a file. A sample takes at least one byte, and eight in memory.
const (
	MaxPayload          = 256 << 20
	maxRatio            = 100
	unlimitedRatioBytes = 64 << 10 // the ratio of smaller files is not limited
	window              = 8 << 20
)

// pack never compresses so well that unpack would treat the result as a zip bomb.
func pack(payload []byte) ([]byte, error) {
	if len(payload) > MaxPayload {
		return nil, fmt.Errorf("%d MB of samples, the max is %d", len(payload)>>20, MaxPayload>>20)
	}
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBetterCompression), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
	if err != nil {
		return nil, fmt.Errorf("pack samples: %w", err)
	}
	packed := z.EncodeAll(payload, append([]byte(magic), compressed))
	if len(payload) <= allowed(len(packed)) {
		return packed, nil
	}
	return append(append([]byte(magic), stored), payload...), nil
}

func allowed(packed int) int { return min(max(maxRatio*packed, unlimitedRatioBytes), MaxPayload) }

// ErrTooLarge is wrapped by the error for joining more samples than allowed.
var ErrTooLarge = errors.New("too many samples")

func unpack(data []byte, room int) ([]byte, error) {
	rest, ok := bytes.CutPrefix(data, []byte(magic))
	if !ok || len(rest) == 0 {
		return nil, errors.New("not a samples file: it does not start with pawl.samples/v1")
	}
	most := allowed(len(data))
	switch rest[0] {
	case stored:
		if len(rest)-1 > room {
			return nil, fmt.Errorf("%w: %d bytes, the max is %d", ErrTooLarge, len(rest)-1, room)
		}
		return rest[1:], nil
	case compressed:
	default:
		return nil, fmt.Errorf("unknown packing of samples (%d): this pawl is too old", rest[0])
	}
	z, err := zstd.NewReader(bytes.NewReader(rest[1:]), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(window), zstd.WithDecoderMaxMemory(MaxPayload+1))
	if err != nil {
		return nil, fmt.Errorf("unpack samples: %w", err)
	}
	defer z.Close()
	payload, err := io.ReadAll(io.LimitReader(z, int64(min(most, room))+1))
	if err != nil {
		return nil, fmt.Errorf("unpack samples: %w", err)
	}
	if len(payload) > room && room < most {
		return nil, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, room)
	}
	if len(payload) > most {
		return nil, fmt.Errorf("unpack samples: %d bytes unpack to more than %d, which no samples file does", len(data), most)
	}
	return payload, nil
}
