package adapter

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/measure"
)

var vllm = format{
	Format: Format{"vllm", "vllm bench serve --save-result: throughput, and with --save-detailed the latency of every request"},
	detect: func(o outline) bool { return o.has("request_throughput", "total_token_throughput") },
	read: servingBenchmark([]servingField{
		{"model_id", "model"}, {"request_rate", "rate"}, {"max_concurrency", "concurrency"}, {"num_prompts", "prompts"},
	}, "--save-detailed"),
}

var sglang = format{
	Format: Format{"sglang", "sglang.bench_serving --output-file: throughput, and with --output-details the latency of every request"},
	detect: func(o outline) bool { return o.has("backend", "dataset_name", "random_range_ratio") },
	read: servingBenchmark([]servingField{
		{"backend", "backend"},
		{"dataset_name", "dataset"},
		{"request_rate", "rate"},
		{"max_concurrency", "concurrency"},
		{"random_input_len", "in"},
		{"random_output_len", "out"},
	}, "--output-details"),
}

// servingField is a field of the file and the parameter that it becomes.
type servingField struct{ field, param string }

// servingRecord is one run of a serving benchmark. Files with several runs have one a line.
type servingRecord map[string]jsontext.Value

// servingBenchmark returns the reader of a tool that writes the fields. details is its option that keeps every request.
func servingBenchmark(fields []servingField, details string) func(*input, *builder) error {
	return func(in *input, b *builder) error {
		return readRecords(in, b, "lines between the records that are not JSON objects: %d", func(r *servingRecord, b *builder, line int) error {
			if _, ok := (*r)["request_throughput"]; !ok {
				b.warn(warnIgnored, "", "line %d: the object has no request_throughput", line)
				return nil
			}
			return r.read(b, fields, details)
		})
	}
}

func (r servingRecord) read(b *builder, fields []servingField, details string) error {
	params := r.params(fields)
	c := measure.Case{
		CaseKey: measure.CaseKey{Benchmark: "serve", Config: configName(params)}, Params: paramMap(params), Timer: measure.TimerWall,
	}
	if date, ok := plainText(r["date"]); ok {
		b.created(date)
	}
	requests, detailed, err := r.requests()
	if err != nil {
		return err
	}
	if detailed {
		err = requests.emit(b, c)
	} else {
		err = r.summary(b, c, details)
	}
	if err != nil {
		return err
	}
	return r.metrics(b, c, detailed, requests.failed)
}

// params returns the load of the run. A rate without a bound is written as a number that JSON does not have, or as text.
func (r servingRecord) params(fields []servingField) []param {
	var list []param
	for _, f := range fields {
		value, known := r[f.field]
		text, isText := plainText(value)
		v, isNumber := plainNumber(value)
		switch {
		case !known:
		case f.field == "request_rate" && !isText && (!isNumber || math.IsNaN(v)):
			list = append(list, param{f.param, "inf"})
		case f.field == "model_id" && isText:
			list = append(list, param{f.param, label(path.Base(text))})
		case isText:
			list = append(list, param{f.param, label(text)})
		case isNumber && !math.IsNaN(v):
			list = append(list, param{f.param, v})
		}
	}
	return list
}

// requestTimes holds what is known of the single requests that succeeded.
type requestTimes struct {
	latency, first, perToken []float64 // nanoseconds; the others in milliseconds
	failed, unread, total    int
}

// requests reads the lists of --save-detailed and --output-details, which have one entry for each request.
func (r servingRecord) requests() (q requestTimes, ok bool, err error) {
	var first numbers
	var between []numbers
	var failures []text
	for _, list := range []struct {
		field string
		into  any
	}{{"ttfts", &first}, {"itls", &between}, {"errors", &failures}} {
		if raw, known := r[list.field]; known {
			if err := unmarshal(raw, list.into); err != nil {
				return q, false, fmt.Errorf("%s: %w", list.field, err)
			}
		}
	}
	if first == nil {
		return q, false, nil
	}
	if len(between) != len(first) || failures != nil && len(failures) != len(first) {
		return q, false, fmt.Errorf("the lists of requests differ in length: %d ttfts, %d itls, %d errors", len(first), len(between), len(failures))
	}
	q.total = len(first)
	for i, t := range first {
		rest := 0.0
		for _, gap := range between[i] {
			rest += gap
		}
		switch {
		case failures != nil && failures[i] != "": // its time to the first token is written as 0
			q.failed++
		case !(t > 0) || !(rest >= 0) || math.IsInf(t+rest, 0): // not streamed, so its latency is not known
			q.unread++
		default:
			q.latency, q.first = append(q.latency, 1e9*(t+rest)), append(q.first, 1e3*t)
			if n := len(between[i]); n > 0 {
				q.perToken = append(q.perToken, 1e3*rest/float64(n))
			}
		}
	}
	return q, true, nil
}

func (q requestTimes) emit(b *builder, c measure.Case) error {
	if q.failed > 0 {
		b.warn(warnSkipped, c.Name(), "%d of %d requests failed; their times are not counted", q.failed, q.total)
	}
	if q.unread > 0 {
		b.warn(warnSkipped, c.Name(), "%d of %d requests have no time to the first token and are not counted", q.unread, q.total)
	}
	round := measure.CaseRound{Samples: q.latency}
	if len(q.latency) == 0 {
		round.Error = fmt.Sprintf("no request succeeded (%d of %d failed)", q.failed, q.total)
	}
	if err := b.time(c, round); err != nil {
		return err
	}
	for _, m := range []struct {
		name   string
		values []float64
	}{{"ttft", q.first}, {"tpot", q.perToken}} {
		if len(m.values) == 0 {
			continue
		}
		series := measure.Case{CaseKey: c.CaseKey, Params: c.Params, Unit: "ms", Better: measure.Lower}
		series.Metric = m.name
		if err := b.metric(series, m.values); err != nil {
			return err
		}
	}
	return nil
}

// summary adds the latency of a file that does not keep the requests.
func (r servingRecord) summary(b *builder, c measure.Case, details string) error {
	var s measure.Summary
	for _, suffix := range []string{"e2el_ms", "e2e_latency_ms"} {
		if v, ok := plainNumber(r["mean_"+suffix]); ok && v > 0 {
			s.Mean = 1e6 * v
		}
		if v, ok := plainNumber(r["median_"+suffix]); ok && v > 0 {
			s.Median = 1e6 * v
		}
	}
	if s.Mean == 0 && s.Median == 0 {
		return nil
	}
	if v, ok := plainNumber(r["completed"]); ok {
		s.Count = count(v)
	}
	return b.summary(c, s, "the file has no latencies of requests: write it with "+details)
}

// latencyField matches a statistic of the latencies of a run.
var latencyField = lazyregexp.New(`^(mean|median|p[0-9.]+)_(ttft|tpot|itl|e2el|e2e_latency)_ms$`)

// metrics adds the numbers of the run as a whole, each one value. With every request at hand, only the tails are needed.
func (r servingRecord) metrics(b *builder, c measure.Case, detailed bool, failed int) error {
	add := func(name, unit string, better measure.Better, v float64) error {
		m := measure.Case{CaseKey: c.CaseKey, Params: c.Params, Unit: unit, Better: better}
		m.Metric = name
		return b.metric(m, []float64{v})
	}
	var errs []error
	for _, f := range []struct{ field, unit string }{
		{"request_throughput", "req/s"},
		{"request_goodput", "req/s"},
		{"input_throughput", "tok/s"},
		{"output_throughput", "tok/s"},
		{"total_token_throughput", "tok/s"},
		{"total_throughput", "tok/s"},
	} {
		if v, ok := plainNumber(r[f.field]); ok && (f.field != "request_goodput" || !math.IsNaN(v)) { // null without a goal
			errs = append(errs, add(f.field, f.unit, measure.Higher, v))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r)) {
		if !latencyField.MatchString(name) || detailed && name[0] != 'p' {
			continue
		}
		if v, ok := plainNumber(r[name]); ok && v != 0 { // 0 is written for what was not streamed
			errs = append(errs, add(strings.TrimSuffix(name, "_ms"), "ms", measure.Lower, v))
		}
	}
	if v, ok := r.failures(failed, detailed); ok {
		errs = append(errs, add("failed_requests", "requests", measure.Lower, v))
	}
	return errors.Join(errs...)
}

// failures returns how many requests failed, if the file tells.
func (r servingRecord) failures(failed int, detailed bool) (float64, bool) {
	if v, ok := plainNumber(r["failed"]); ok && v >= 0 {
		return v, true
	}
	if detailed {
		return float64(failed), true
	}
	asked, known := plainNumber(r["num_prompts"])
	done, also := plainNumber(r["completed"])
	return asked - done, known && also && asked >= done
}

// plainNumber returns a JSON number; NaN for null, which may itself replace a NaN. Numbers written as text count.
func plainNumber(v jsontext.Value) (float64, bool) {
	if len(v) == 0 {
		return 0, false
	}
	switch v.Kind() {
	case 'n':
		return math.NaN(), true
	case '0':
		x, err := strconv.ParseFloat(string(v), 64)
		return x, err == nil
	case '"':
		text, _ := plainText(v)
		x, err := strconv.ParseFloat(text, 64)
		return x, err == nil
	default:
		return 0, false
	}
}

// plainText returns a JSON string.
func plainText(v jsontext.Value) (string, bool) {
	if len(v) == 0 || v.Kind() != '"' {
		return "", false
	}
	text, err := jsontext.AppendUnquote(nil, []byte(v))
	return string(text), err == nil
}
