package gpu

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed cards.txt
var cardLines string

// cardTable returns the cards of cards.txt. The file is part of the program, so a mistake in it is a bug.
var cardTable = sync.OnceValue(func() []Card {
	cards, err := parseCards(cardLines)
	if err != nil {
		panic("gpu: cards.txt: " + err.Error())
	}
	return cards
})

// parseCards reads lines in the format that cards.txt describes.
func parseCards(text string) ([]Card, error) {
	var cards []Card
	number := 0
	for line := range strings.Lines(text) {
		number++
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		c, err := parseCard(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if slices.ContainsFunc(cards, func(o Card) bool { return o.Name == c.Name }) {
			return nil, fmt.Errorf("line %d: %s is listed twice", number, c.Name)
		}
		cards = append(cards, c)
	}
	return cards, nil
}

// cardFields is the number of fields in a line.
const cardFields = 23

func parseCard(line string) (Card, error) {
	fields := strings.Split(line, "|")
	if len(fields) != cardFields {
		return Card{}, fmt.Errorf("%d fields, want %d", len(fields), cardFields)
	}
	for i := range fields {
		fields[i] = strings.TrimSpace(fields[i])
	}
	c := Card{Name: fields[0], Arch: fields[1], TFLOPS: map[DType]Cell[float64]{}}
	r := cellReader{source: Source(fields[21])}
	if r.source.Title() == "" {
		return c, fmt.Errorf("unknown source %q", r.source)
	}
	for name := range strings.SplitSeq(fields[22], ",") {
		if name = strings.TrimSpace(name); name != "" {
			c.drivers = append(c.drivers, name)
		}
	}
	c.SMs, c.L2MB, c.L3MB = r.whole(fields[2]), r.cell(fields[3], nil), r.cell(fields[4], nil)
	c.BoostMHz, c.TensorMHz, c.MemoryGB = r.whole(fields[5]), r.whole(fields[6]), r.whole(fields[7])
	c.BusBits, c.PinGbps = r.whole(fields[8]), r.cell(fields[9], nil)
	c.BandwidthGBs = r.cell(fields[10], c.derivedBandwidth)
	fields[11], c.FP64Tensor = strings.CutSuffix(fields[11], "t")
	for i, d := range DTypes() {
		if cell := r.cell(fields[11+i], func() Cell[float64] { return c.derivedPeak(d) }); cell.Known() {
			c.TFLOPS[d] = cell
		}
	}
	for i, d := range []DType{FP16, FP8} {
		if cell := r.cell(fields[19+i], func() Cell[float64] { return c.derivedPeak(d) }); cell.Known() {
			if c.FP16AccumTFLOPS == nil {
				c.FP16AccumTFLOPS = map[DType]Cell[float64]{}
			}
			c.FP16AccumTFLOPS[d] = cell
		}
	}
	return c, r.err
}

// cellReader reads the fields of one line. It keeps the first error.
type cellReader struct {
	source Source // of fields that name none
	err    error
}

func (r *cellReader) fail(field, why string) Cell[float64] {
	if r.err == nil {
		r.err = fmt.Errorf("%q: %s", field, why)
	}
	return Cell[float64]{}
}

// cell reads a field. derive computes the value of "="; it is nil where that is not allowed.
func (r *cellReader) cell(field string, derive func() Cell[float64]) Cell[float64] {
	switch field {
	case "-":
		return Cell[float64]{}
	case "=", "=/2":
		if derive == nil {
			return r.fail(field, "nothing to derive it from")
		}
		c := derive()
		if !c.Known() {
			return r.fail(field, "SMs, clock, rate, bus or data rate is unknown")
		}
		if field == "=/2" {
			c.Value /= 2
		}
		c.Value, _ = strconv.ParseFloat(strconv.FormatFloat(c.Value, 'g', 4, 64), 64) // four digits, as datasheets have
		return c
	}
	number, source, named := strings.Cut(field, "@")
	c := Cell[float64]{Source: r.source}
	if named {
		c.Source = Source(source)
	}
	number, differ := strings.CutSuffix(number, "?")
	c.Certain = !differ && c.Source.Certainty() != Reported
	if c.Source.Title() == "" {
		return r.fail(field, "unknown source")
	}
	var err error
	if c.Value, err = strconv.ParseFloat(number, 64); err != nil || !amount(c.Value) {
		return r.fail(field, "not a positive number")
	}
	return c
}

// whole reads a field that is a whole number.
func (r *cellReader) whole(field string) Cell[int] {
	c := r.cell(field, nil)
	if c.Value != float64(int(c.Value)) {
		r.fail(field, "not a whole number")
	}
	return Cell[int]{Value: int(c.Value), Source: c.Source, Certain: c.Certain}
}
