package poison

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io/fs"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/goatnote-inc/pawl/internal/forge/untrusted/untrustedtest"
	"github.com/goatnote-inc/pawl/measure"
)

// entry is a file of an archive.
type entry struct {
	name, body string
	mode       fs.FileMode
	store      bool
}

func packed(entries ...entry) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		if e.store {
			h.Method = zip.Store
		}
		if e.mode != 0 {
			h.SetMode(e.mode)
		}
		w, err := z.CreateHeader(h)
		if err != nil {
			panic(err)
		}
		if _, err := w.Write([]byte(e.body)); err != nil {
			panic(err)
		}
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// list is where the list of an archive begins.
func list(b []byte) int { return int(binary.LittleEndian.Uint32(b[len(b)-22+16:])) }

func overlapping() []byte {
	b := packed(entry{name: "current.json", body: "{}"}, entry{name: "verdict.json", body: "{}"})
	second := list(b) + 4 + bytes.Index(b[list(b)+4:], []byte("PK\x01\x02"))
	binary.LittleEndian.PutUint32(b[second+42:], 0)
	return b
}

func zip64Lie() []byte {
	b := packed(entry{name: "current.json", body: "{}"})
	binary.LittleEndian.PutUint32(b[list(b)+24:], 0xffffffff)
	binary.LittleEndian.PutUint32(b[list(b)+20:], 0xffffffff)
	return b
}

// bomb is a record of so many zeros that says it has others. One piece of the packed
// stream is repeated: it refers to nothing but the piece before, which is the same.
func bomb(size, says int) []byte {
	const piece = 1 << 20
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestCompression)
	if err != nil {
		panic(err)
	}
	zeros := bytes.Repeat([]byte("0"), piece)
	var again []byte
	for i := range 3 {
		from := b.Len()
		_, _ = w.Write(zeros)
		_ = w.Flush()
		if i == 2 {
			again = slices.Clone(b.Bytes()[from:])
		}
	}
	b.Write(bytes.Repeat(again, size/piece-3))
	b.Write([]byte{1, 0, 0, 0xff, 0xff}) // the last block, empty
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	raw, err := z.CreateRaw(&zip.FileHeader{Name: "current.json", Method: zip.Deflate, CompressedSize64: uint64(b.Len()), UncompressedSize64: uint64(says), CRC32: crc32.ChecksumIEEE(zeros)})
	if err != nil {
		panic(err)
	}
	_, _ = raw.Write(b.Bytes())
	_ = z.Close()
	return out.Bytes()
}

// zstdBomb is one packed piece again and again: a stream may have many.
func zstdBomb() []byte {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err)
	}
	piece := w.EncodeAll(bytes.Repeat([]byte(" "), 1<<20), nil)
	return packed(entry{name: "current.json.zst", body: strings.Repeat(string(piece), 512), store: true})
}

// manyEntries is a list of names that all mean the same empty file.
func manyEntries(n int) []byte {
	b := packed(entry{name: "a", store: true})
	at := list(b)
	one := slices.Clone(b[at : len(b)-22])
	end := slices.Clone(b[len(b)-22:])
	b = append(b[:at:at], bytes.Repeat(one, n)...)
	binary.LittleEndian.PutUint16(end[8:], uint16(n))
	binary.LittleEndian.PutUint16(end[10:], uint16(n))
	binary.LittleEndian.PutUint32(end[12:], uint32(n*len(one)))
	return append(b, end...)
}

// noise are letters that do not shrink.
func noise(n int) string {
	b := make([]byte, n)
	x := uint32(7)
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"[x>>26]
	}
	return string(b)
}

// largest is a record near all limits: what is let through has to fit as well.
func largest() []byte {
	run := untrustedtest.Record(slow)
	run.Warnings = make([]measure.Warning, 60_000)
	for i := range run.Warnings {
		run.Warnings[i] = measure.Warning{Code: "x", Message: strings.Repeat("word ", 30)}
	}
	long := make(measure.Samples, 1_000_000)
	for i := range long {
		long[i] = 100_000 + float64(i%1000)
	}
	for i := range 2 { // the slow case, both sides
		run.Cases[i].Rounds[0].Samples = long
	}
	var b bytes.Buffer
	if err := measure.Write(&b, run); err != nil {
		panic(err)
	}
	return packed(entry{name: "current.json", body: b.String(), store: true})
}

// say puts a text wherever a record has one that a report could show.
func say(r *measure.Run, text string) {
	r.Suite.Name, r.Device.Name, r.Device.Driver = "s"+text, "NVIDIA"+text, text
	r.Testbed.Device, r.Testbed.Driver = r.Device.Name, text
	r.ID, r.Pawl, r.Suite.Path = "01"+text, text, text
	r.Environment.Host, r.Environment.OS, r.Environment.CPU = text, text, text
	r.End.Reason, r.End.State = text, measure.OverBudget
	for range 12 {
		r.Warnings = append(r.Warnings, measure.Warning{Code: text, Message: text, Case: text})
	}
	for i := range r.Implementations {
		r.Implementations[i].Ref, r.Implementations[i].Build.Command = text, text
		r.Implementations[i].Toolchain = []measure.Tool{{Name: text, Version: text}}
		r.Implementations[i].Harness.Command, r.Implementations[i].Harness.Device, r.Implementations[i].Harness.Runtime = text, text, text
	}
	slowCase := untrustedtest.Record(map[string]float64{"softmax/N128": 0.4}).Cases[:2]
	for i := range slowCase { // a case that the base does not have, and that is slower
		slowCase[i].Benchmark, slowCase[i].Config = "new"+text, text
		slowCase[i].Unit, slowCase[i].Timer = "ns", measure.Timer(text)
		slowCase[i].Rounds[0].Note = text
	}
	broken := untrustedtest.Record(nil).Cases[2:4]
	for i := range broken {
		broken[i].Benchmark, broken[i].Config = "broken"+text, text
		broken[i].Rounds = []measure.CaseRound{{Round: 0, Error: text}}
	}
	r.Cases = append(r.Cases, slices.Concat(slowCase, broken)...)
}

func claimed(text string) string {
	return object(map[string]any{
		"verdict": "improvement", "sentence": text, "run": text, "warnings": []string{text},
		"stages": []map[string]any{{"name": text, "answer": "warn", "line": text, "detail": []string{text, text}}},
	})
}

func stopped(text string) string {
	return object(map[string]any{
		"verdict": "broken", "stopped": map[string]any{"step": "build" + text, "side": "candidate", "why": text},
		"stages": []map[string]any{{"name": "fuzz" + text, "answer": "stop", "line": "a.cu:1:1: " + text, "detail": []string{"../../etc/passwd:1: " + text, text}}},
	})
}

func object(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprint(err))
	}
	return string(b)
}
