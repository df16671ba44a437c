// Package samplecodec stores the raw samples of a run separately from the rest of its record,
// in the format pawl.samples/v1: a few bytes per sample, without loss. It must not know
// where they are stored, nor what they mean.
package samplecodec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/goatnote-inc/pawl/measure"
)

// ErrWrongRun is wrapped by the error for joining samples with a different run.
var ErrWrongRun = errors.New("the samples belong to another run")

// Split separates the samples from a run. The stripped copy has everything else; run is
// unchanged.
func Split(run *measure.Run) (stripped *measure.Run, data []byte, err error) {
	payload := appendText(appendText(nil, run.ID), run.Digest)
	stripped = clone(run)
	for s := range seriesOf(stripped) {
		payload = appendSeries(payload, *s)
		*s = nil
	}
	if data, err = pack(payload); err != nil {
		return nil, nil, fmt.Errorf("cannot take the samples out of run %s: %w", run.ID, err)
	}
	return stripped, data, nil
}

// Join puts samples back into the run that they were taken from. Both arguments are
// untrusted and stay unchanged. The result has the digest of the original document.
func Join(stripped *measure.Run, data []byte) (*measure.Run, error) {
	return JoinLimited(stripped, data, MaxPayload)
}

// JoinLimited is Join with a limit on the unpacked samples in bytes. Each byte may become a
// number of eight bytes.
func JoinLimited(stripped *measure.Run, data []byte, most int) (*measure.Run, error) {
	run, err := join(stripped, data, min(most, MaxPayload))
	if err != nil {
		return nil, fmt.Errorf("cannot put the samples back into run %s: %w", stripped.ID, err)
	}
	return run, nil
}

func join(stripped *measure.Run, data []byte, most int) (*measure.Run, error) {
	payload, err := unpack(data, most)
	if err != nil {
		return nil, err
	}
	id, payload, err := cutText(payload)
	if err != nil {
		return nil, err
	}
	if id != stripped.ID {
		return nil, fmt.Errorf("%w: %.40q", ErrWrongRun, id)
	}
	run := clone(stripped)
	if run.Digest, payload, err = cutText(payload); err != nil {
		return nil, err
	}
	for s := range seriesOf(run) {
		if len(*s) > 0 {
			return nil, errors.New("the run already has samples")
		}
		if *s, payload, err = decodeSeries(payload); err != nil {
			return nil, err
		}
	}
	if len(payload) > 0 {
		return nil, fmt.Errorf("%w: they have %d extra bytes", ErrWrongRun, len(payload))
	}
	return run, nil
}

// clone copies a run deeply enough to replace its samples.
func clone(run *measure.Run) *measure.Run {
	c := *run
	c.Calibration = slices.Clone(run.Calibration)
	c.Cases = slices.Clone(run.Cases)
	for i := range c.Cases {
		rounds := slices.Clone(c.Cases[i].Rounds)
		for j := range rounds {
			if o := rounds[j].Outside; o != nil {
				outside := *o
				rounds[j].Outside = &outside
			}
		}
		c.Cases[i].Rounds = rounds
	}
	return &c
}

// seriesOf iterates over all series of samples of a run, in storage order.
func seriesOf(run *measure.Run) func(yield func(*measure.Samples) bool) {
	return func(yield func(*measure.Samples) bool) {
		for i := range run.Calibration {
			if !yield(&run.Calibration[i].Samples) {
				return
			}
		}
		for i := range run.Cases {
			for j := range run.Cases[i].Rounds {
				r := &run.Cases[i].Rounds[j]
				list := []*measure.Samples{&r.Warmup, &r.Samples, &r.Wall, &r.CPU, &r.Clocks}
				if r.Outside != nil {
					list = append(list, &r.Outside.Times, &r.Outside.Adjacent)
				}
				for _, s := range list {
					if !yield(s) {
						return
					}
				}
			}
		}
	}
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func cutText(b []byte) (string, []byte, error) {
	n, rest, err := cutUvarint(b)
	if err != nil {
		return "", nil, err
	}
	if n > uint64(len(rest)) {
		return "", nil, errShort
	}
	return string(rest[:n]), rest[n:], nil
}
