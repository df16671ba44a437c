package client

import (
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// Maximum lengths of texts in a report, in bytes. Names are part of a server's keys, which have their own
// limits.
const (
	maxName  = 200
	maxLabel = 64
	maxPath  = 1024
)

// earliest is older than any GPU that pawl measures on.
var earliest = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// checker records the first error and its location. Later checks do nothing, so that checks can be written
// one after another without error handling.
type checker struct {
	latest time.Time
	err    *InvalidError
	at     string // JSON pointer of the current part
}

// Check returns an error if a server could not accept the report at the time now.
func (r *Report) Check(now time.Time) error {
	c := &checker{latest: now.Add(24 * time.Hour)}
	c.must(r.Schema == SchemaReport, "/schema", "must be %q", SchemaReport)
	c.must(ulid(r.Run), "/run", "must be a ULID: 26 letters and digits")
	c.moment(r.Measured, "/measured")
	c.text(r.Pawl, "/pawl", maxName)
	c.name(r.Suite, "/suite", maxName)
	c.commit(&r.Commit, "/commit")
	c.text(r.Branch, "/branch", 255)
	c.must(r.Pull >= 0 && r.Pull <= math.MaxInt32, "/pull", "must be the number of a pull request")
	c.must(len(r.History) <= MaxHistory, "/history", "more than %d commits", MaxHistory)
	for i := range r.History {
		c.commit(&r.History[i], "/history/"+strconv.Itoa(i))
	}
	c.trust(r.Trust)
	c.device(r)
	c.health(&r.Health)
	c.verdict(r.Verdict, "/verdict")
	c.text(r.Sentence, "/sentence", MaxText)
	c.points(r.Points)
	c.blobs(r.Blobs)
	if c.err != nil {
		return c.err
	}
	return nil
}

func (c *checker) must(ok bool, pointer, format string, args ...any) {
	if !ok && c.err == nil {
		c.err = &InvalidError{c.at + pointer, fmt.Sprintf(format, args...)}
	}
}

// text checks a single line of text, which may be empty.
func (c *checker) text(s, pointer string, most int) {
	if s == "" {
		return
	}
	if len(s) > most {
		c.must(false, pointer, "%d bytes, the max is %d", len(s), most)
		return
	}
	c.must(plain(s), pointer, "has a control character or is not valid UTF-8")
}

func (c *checker) name(s, pointer string, most int) {
	if s == "" {
		c.must(false, pointer, "is required")
		return
	}
	c.text(s, pointer, most)
}

// plain reports whether a text is UTF-8 without control characters.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] == 0x7f {
			return false
		}
		if s[i] >= utf8.RuneSelf {
			return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 })
		}
	}
	return true
}

func (c *checker) moment(t time.Time, pointer string) {
	c.must(!t.Before(earliest), pointer, "is before the year 2000")
	c.must(!t.After(c.latest), pointer, "is in the future: check the clock of the sender")
}

// number checks a number that is stored with 24 bits of precision.
func (c *checker) number(v float64, pointer string) {
	if !(math.Abs(v) <= math.MaxFloat32) {
		c.must(false, pointer, "%v cannot be stored: must be a finite number below 3e38", v)
	}
}

func (c *checker) amount(v float64, pointer string) {
	c.number(v, pointer)
	c.must(v >= 0, pointer, "must not be negative")
}

func (c *checker) commit(m *Commit, pointer string) {
	defer c.under(pointer)()
	c.must(hexOf(m.SHA, 40) || hexOf(m.SHA, 64), "/sha", "must be 40 or 64 lower-case hexadecimal digits")
	c.must(m.Parent == "" || hexOf(m.Parent, 40) || hexOf(m.Parent, 64), "/parent", "must be 40 or 64 lower-case hexadecimal digits")
	if m.At != nil {
		c.moment(*m.At, "/at")
	}
	c.text(m.Author, "/author", maxName)
	c.text(m.Title, "/title", MaxText)
}

func (c *checker) under(pointer string) func() {
	before := c.at
	c.at += pointer
	return func() { c.at = before }
}

func (c *checker) trust(t measure.Trust) {
	switch t {
	case measure.Checked, measure.Trusted, measure.SelfTimed, measure.TrustImported:
	default:
		c.must(false, "/trust", "must be checked, trusted, self-timed or imported")
	}
}

func (c *checker) verdict(v ratchet.Verdict, pointer string) {
	switch v {
	case "", ratchet.Regression, ratchet.Improvement, ratchet.Maintained, ratchet.Inconclusive,
		ratchet.New, ratchet.Missing, ratchet.Broken, ratchet.Identical:
	default:
		c.must(false, pointer, "unknown verdict")
	}
}

func (c *checker) device(r *Report) {
	d, t := &r.Device, &r.Testbed
	c.name(string(d.Kind), "/device/kind", maxLabel)
	c.name(d.Name, "/device/name", maxName)
	for _, x := range []struct{ text, pointer string }{
		{d.UUID, "uuid"}, {d.Parent, "parent"}, {d.VBIOS, "vbios"}, {d.Driver, "driver"}, {d.CUDA, "cuda"}, {d.ComputeCapability, "compute_capability"},
	} {
		c.text(x.text, "/device/"+x.pointer, maxName)
	}
	c.must(d.Index >= 0 && d.Units >= 0 && d.MemoryBytes >= 0 && d.CacheBytes >= 0 && d.MaxClockMHz >= 0, "/device", "has a negative number")
	c.amount(d.BandwidthGBs, "/device/bandwidth_gb_per_s")
	c.name(string(t.Kind), "/testbed/kind", maxLabel)
	c.name(t.Device, "/testbed/device", maxName)
	c.text(t.Driver, "/testbed/driver", maxName)
	c.text(t.ECC, "/testbed/ecc", maxLabel)
	c.text(t.MIG, "/testbed/mig", maxLabel)
	c.amount(t.PowerCapW, "/testbed/power_cap_w")
}

func (c *checker) health(h *Health) {
	defer c.under("/health")()
	c.number(h.TemperatureC, "/temperature_c")
	for _, x := range []struct {
		value   float64
		pointer string
	}{
		{h.SMClockMHz, "/sm_clock_mhz"},
		{h.MemoryClockMHz, "/memory_clock_mhz"},
		{h.PowerW, "/power_w"},
		{h.Load1, "/load1"},
		{h.Calibration, "/calibration_ns"},
		{h.Noise, "/noise"},
		{h.Seconds, "/seconds"},
		{h.Dollars, "/dollars"},
	} {
		c.amount(x.value, x.pointer)
	}
	c.must(h.Dropped >= 0 && h.Dropped <= math.MaxInt32, "/dropped", "must be a number of rounds")
	c.must(len(h.Reasons) <= maxList, "/reasons", "more than %d entries", maxList)
	for i, reason := range h.Reasons {
		c.name(reason, "/reasons/"+strconv.Itoa(i), maxLabel)
	}
}

func (c *checker) blobs(list []Blob) {
	c.must(len(list) <= MaxBlobs, "/blobs", "more than %d entries", MaxBlobs)
	seen := make(map[string]bool, len(list))
	for i := range list {
		b := &list[i]
		done := c.under("/blobs/" + strconv.Itoa(i))
		c.must(hexOf(b.Digest, 64), "/digest", "must be a SHA-256: 64 lower-case hexadecimal digits")
		c.must(!seen[b.Digest], "/digest", "occurs twice")
		seen[b.Digest] = true
		c.must(b.Size > 0 && b.Size <= MaxBlob, "/size", "must be 1 to %d bytes", MaxBlob)
		switch b.Kind {
		case BlobRecord, BlobSamples, BlobVerdict, BlobWhy, BlobProfile:
		default:
			c.must(false, "/kind", "must be record, samples, verdict, why or profile")
		}
		c.text(b.Name, "/name", 255)
		done()
	}
}

// ulid reports whether a text is a ULID: 128 bits in Crockford's alphabet.
func ulid(s string) bool {
	return len(s) == 26 && s[0] <= '7' && strings.Trim(s, "0123456789ABCDEFGHJKMNPQRSTVWXYZ") == ""
}

func hexOf(s string, digits int) bool {
	return len(s) == digits && strings.Trim(s, "0123456789abcdef") == ""
}

// inside reports whether a relative path stays within its repository.
func inside(p string) bool {
	return p == path.Clean(p) && !path.IsAbs(p) && p != ".." && !strings.HasPrefix(p, "../") && !strings.Contains(p, `\`)
}
