package client_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/measure"
)

func TestDecodeReadsWhatEncodeWrites(t *testing.T) {
	want := example(200)
	body := encode(t, want)
	got, err := client.Decode(body, now)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if again := encode(t, got); !bytes.Equal(again, body) {
		t.Error("a report that was read is written otherwise")
	}
	if got, err := client.Decode(body, time.Now()); err != nil || got.Run != want.Run {
		t.Errorf("Decode: %v", err)
	}
}

// What Encode takes and Check finds right is read back as it is, whatever it says.
func TestDecodeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := example(rapid.IntRange(1, 20).Draw(t, "points"))
		r.Sentence = rapid.String().Draw(t, "sentence")
		r.Branch = rapid.StringN(0, 60, 255).Draw(t, "branch")
		for i := range r.Points {
			p := &r.Points[i]
			p.Value = rapid.Float64().Draw(t, "value")
			p.Low, p.High = p.Value, p.Value
			p.Better = rapid.SampledFrom([]measure.Better{"", measure.Lower, measure.Higher}).Draw(t, "better")
			p.Owners = rapid.SliceOfN(rapid.StringN(1, 20, 200), 0, 5).Draw(t, "owners")
			if len(p.Owners) == 0 {
				p.Owners = nil
			}
		}
		body, err := client.Encode(r)
		wrong := r.Check(now)
		if err != nil {
			if wrong == nil {
				t.Fatalf("Check finds nothing wrong, Encode does: %v", err)
			}
			return
		}
		got, err := client.Decode(body, now)
		if (err != nil) != (wrong != nil) {
			t.Fatalf("Check says %v, Decode %v", wrong, err)
		}
		if err == nil {
			if diff := cmp.Diff(r, got); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}

// TestDecodeRefuses is the list of what a server is not made to keep.
func TestDecodeRefuses(t *testing.T) {
	valid := string(encode(t, example(1)))
	swap := func(old, fresh string) string {
		if !strings.Contains(valid, old) {
			t.Fatalf("the example does not contain %s", old)
		}
		return strings.Replace(valid, old, fresh, 1)
	}
	cut := func(n int) string { return valid[:n] }
	point := valid[strings.Index(valid, `"points":[`)+len(`"points":[`):]
	point = point[:strings.Index(point, `}`)+1]
	long := strings.Repeat("x", client.MaxText+1)
	for _, tc := range []struct{ name, body, want string }{
		// Not JSON, or not only JSON.
		{"nothing", "", "unexpected EOF"},
		{"blanks", " \n\t ", "unexpected EOF"},
		{"no object", `[]`, "an array is not valid here"},
		{"a string", `"report"`, "a string is not valid here"},
		{"a number", `1`, "a number is not valid here"},
		{"null", `null`, "null is not allowed"},
		{"half", cut(len(valid) / 2), ""},
		{"without its last byte", cut(len(valid) - 1), "unexpected EOF"},
		{"in a string", cut(20), ""},
		{"two documents", valid + valid, "after top-level value"},
		{"rubbish after it", valid + "x", "after top-level value"},
		{"a comment", "/* hi */" + valid, "invalid character '/'"},
		{"a comma too many", swap(`"pawl":"0.8.0",`, `"pawl":"0.8.0",,`), "invalid character ','"},
		{"single quotes", `{'schema':1}`, `invalid character '\''`},
		{"UTF-16", "\xff\xfe{\x00}\x00", "invalid character"},
		{"a byte order mark", "\xef\xbb\xbf" + valid, "invalid character"},
		{"brackets that do not match", `{"points":[}`, "invalid character '}'"},
		{"only closing brackets", `]]]]}}}}`, "invalid character ']'"},
		// Text.
		{"invalid UTF-8", swap("attention: keep", "attention: \xc3\x28"), "invalid UTF-8"},
		{"half a surrogate", swap("attention: keep", `attention: \ud800`), "surrogate"},
		{"NUL", swap("attention: keep", `attention: \u0000`), "a string contains NUL"},
		{"a raw control character", swap("attention: keep", "attention:\x01"), "invalid character"},
		{"an escaped control character", swap("attention: keep", `attention: \u001b[31m`), "/commit/title: has a control character"},
		{"a C1 control character", swap("attention: keep", `attention: \u009b31m`), "/commit/title: has a control character"},
		{"a long text", swap("Maintained: 200 cases.", long), "more than 4096 bytes"},
		{"a long name of a member", swap(`"suite"`, `"`+long+`"`), "more than 4096 bytes"},
		{"a text that does not end", `{"schema":"pawl`, "a string is not terminated"},
		{"an escape at the end", `{"schema":"pawl\`, "a string is not terminated"},
		{"an unknown escape", swap("0.8.0", `\x41`), "invalid escape"},
		// Members.
		{"an unknown member", swap(`"suite"`, `"colour":"red","suite"`), "unknown object member name"},
		{"an unknown member of a point", swap(`"unit"`, `"colour":"red","unit"`), "/points/0"},
		{"a member twice", swap(`"suite":"attention"`, `"suite":"attention","suite":"attention"`), "duplicate object member name"},
		{"a member of a point twice", swap(`"unit":"ns"`, `"unit":"ns","unit":"ns"`), "duplicate object member name"},
		{"a member twice, once escaped", swap(`"suite":"attention"`, `"suite":"attention","\u0073uite":"a"`), "duplicate object member name"},
		{"a member in capitals", swap(`"suite"`, `"Suite"`), "unknown object member name"},
		{"null for a member", swap(`"0.8.0"`, `null`), "null is not allowed"},
		{"a number for a text", swap(`"0.8.0"`, `8`), "/pawl: a number is not valid here"},
		{"a text for a number", swap(`"rounds":8`, `"rounds":"8"`), "/points/0/rounds: a string is not valid here"},
		{"a boolean for a number", swap(`"rounds":8`, `"rounds":true`), "/points/0/rounds: a boolean is not valid here"},
		{"an object for a list", swap(`"points":[`+point+`]`, `"points":{}`), "/points: an object is not valid here"},
		{"a list for an object", swap(`"health":{`, `"health":[],"x":{`), "/health: an array is not valid here"},
		// Numbers.
		{"half a round", swap(`"rounds":8`, `"rounds":8.5`), "/points/0/rounds"},
		{"NaN", swap(`"value":12345.678`, `"value":NaN`), "invalid character 'N'"},
		{"nan", swap(`"value":12345.678`, `"value":nan`), "null is not allowed"},
		{"Infinity", swap(`"value":12345.678`, `"value":Infinity`), "null is not allowed"},
		{"above float64", swap(`"value":12345.678`, `"value":1e999`), "/points/0/value"},
		{"above float32", swap(`"high":12358.928`, `"high":1e39`), "/points/0/high: 1e+39 cannot be stored"},
		{"hexadecimal", swap(`"rounds":8`, `"rounds":0x8`), "invalid character 'x'"},
		{"a leading zero", swap(`"rounds":8`, `"rounds":08`), "invalid character '8'"},
		{"a leading plus", swap(`"rounds":8`, `"rounds":+8`), "invalid character '+'"},
		{"no round", swap(`"rounds":8`, `"rounds":0`), "/points/0/rounds: must be 1 or more"},
		{"more rounds than there are numbers", swap(`"rounds":8`, `"rounds":99999999999999999999`), "/points/0/rounds"},
		{"a value outside its interval", swap(`"value":12345.678`, `"value":1`), "/points/0/value: must be between low and high"},
		{"a spread below zero", swap(`"spread":0.00312`, `"spread":-1`), "/points/0/spread: must not be negative"},
		{"samples below zero", swap(`"samples":800`, `"samples":-1`), "/points/0/samples"},
		{"a power below zero", swap(`"power_w":55.5`, `"power_w":-1`), "/health/power_w: must not be negative"},
		{"a pull request below zero", swap(`"branch"`, `"pull":-1,"branch"`), "/pull"},
		// Shape of the whole.
		{"too deep", strings.Repeat("[", client.MaxDepth+1), "nested more than 32 levels deep"},
		{"far too deep", strings.Repeat(`{"a":`, 1_000_000), "nested more than 32 levels deep"},
		{"too many points", swap(point, strings.Repeat(`0,`, client.MaxPoints)+"0"), "a list has more than 100000 values"},
		{"too many objects in all", `{"history":[` + strings.Repeat(`{},`, 60_000) + `{}],"points":[` + strings.Repeat(`{},`, 60_000) + `{}]}`, "too many objects"},
		{"too many commits", swap(`"history":[`, `"history":[`+strings.Repeat(`{"sha":"`+sha(9)+`"},`, client.MaxHistory)), "/history: more than 256 commits"},
		{"too many blobs", swap(`"blobs":[`, `"blobs":[`+strings.Repeat(`{"digest":"","size":1,"kind":"why"},`, client.MaxBlobs)), "/blobs: more than 1000"},
		{"too many owners", swap(`"owners":[`, `"owners":[`+strings.Repeat(`"@a",`, 64)), "a list has more than 64 values"},
		{"too many reasons", swap(`"reasons":[`, `"reasons":[`+strings.Repeat(`"a",`, 64)), "a list has more than 64 values"},
		{"too large", strings.Repeat(" ", client.MaxReport+1), "too large"},
		// What it says.
		{"no schema", swap(`"schema":"pawl.report/v1",`, ``), `/schema: must be "pawl.report/v1"`},
		{"another schema", swap(`pawl.report/v1`, `pawl.report/v2`), `/schema: must be "pawl.report/v1"`},
		{"no run", swap(`"run":"01JCPT3Y3JQK6Z0Q8W3V5N7D9F",`, ``), "/run: must be a ULID"},
		{"a run with a letter that ULIDs lack", swap("01JCPT3Y3JQK6Z0Q8W3V5N7D9F", "01JCPT3Y3JQK6Z0Q8W3V5N7D9U"), "/run"},
		{"a run that is too large", swap("01JCPT3Y3JQK6Z0Q8W3V5N7D9F", "81JCPT3Y3JQK6Z0Q8W3V5N7D9F"), "/run"},
		{"no suite", swap(`"suite":"attention",`, ``), "/suite: is required"},
		{"a long suite", swap(`"suite":"attention"`, `"suite":"`+strings.Repeat("s", 201)+`"`), "/suite: 201 bytes"},
		{"measured before GPUs", swap(`"measured":"2026`, `"measured":"1999`), "/measured: is before the year 2000"},
		{"measured in the future", swap(`"measured":"2026`, `"measured":"2027`), "/measured: is in the future"},
		{"a time that is none", swap(`"measured":"2026-11-15`, `"measured":"2026-13-15`), "/measured"},
		{"a time as a number", swap(`"measured":"2026-11-15T11:50:00Z"`, `"measured":1763207400`), "/measured"},
		{"a commit in the future", swap(`"at":"2026`, `"at":"2031`), "/commit/at: is in the future"},
		{"no commit", swap(sha(2), ``), "/commit/sha: must be 40 or 64"},
		{"a short commit", swap(sha(2), `abcdef1`), "/commit/sha"},
		{"a commit in capitals", swap(sha(2), strings.Repeat("A", 40)), "/commit/sha"},
		{"a commit that is no hexadecimal", swap(sha(2), strings.Repeat("g", 40)), "/commit/sha"},
		{"a parent that is none", swap(`"parent":"`+sha(1)+`"`, `"parent":"HEAD~1"`), "/commit/parent"},
		{"a commit of the history that is none", swap(`"history":[{"sha":"`+sha(1), `"history":[{"sha":"`), "/history/0/sha"},
		{"an unknown trust", swap(`"trusted"`, `"certain"`), "/trust: must be checked"},
		{"an unknown verdict", swap(`"verdict":"maintained","sentence"`, `"verdict":"fine","sentence"`), "/verdict: unknown verdict"},
		{"an unknown verdict of a point", swap(`"verdict":"maintained","baseline"`, `"verdict":"fine","baseline"`), "/points/0/verdict"},
		{"no device", swap(`"name":"NVIDIA L4"`, `"name":""`), "/device/name: is required"},
		{"a clock policy that is none", swap(`"clocks":"base"`, `"clocks":"fast"`), "/testbed/clocks"},
		{"no testbed", swap(`"device":"NVIDIA L4"`, `"device":""`), "/testbed/device: is required"},
		{"no points", swap(`"points":[`+point+`]`, `"points":[]`), "/points: is empty"},
		{"a point twice", swap(point, point+","+point), "/points/1: attention/B32_H8_S512_D0 (candidate) occurs twice"},
		{"one name, cut otherwise", swap(point, point+","+strings.Replace(point, `"benchmark":"attention","config":"B32_H8_S512_D0"`, `"benchmark":"attention/B32_H8_S512_D0"`, 1)), "occurs twice"},
		{"no benchmark", swap(`"benchmark":"attention"`, `"benchmark":""`), "/points/0/benchmark: is required"},
		{"no implementation", swap(`"implementation":"candidate"`, `"implementation":""`), "/points/0/implementation"},
		{"no unit", swap(`"unit":"ns"`, `"unit":""`), "/points/0/unit"},
		{"hot is left out", swap(`"unit"`, `"cache":"hot","unit"`), "/points/0/cache"},
		{"neither better nor worse", swap(`"unit"`, `"better":"sideways","unit"`), "/points/0/better"},
		{"an unknown timer", swap(`"timer":"device"`, `"timer":"sundial"`), "/points/0/timer"},
		{"a path upwards", swap(`kernels/attention.cu`, `kernels/../../etc/passwd`), "/points/0/path: must be a path inside"},
		{"an absolute path", swap(`kernels/attention.cu`, `/etc/passwd`), "/points/0/path"},
		{"a path of Windows", swap(`kernels/attention.cu`, `kernels\\attention.cu`), "/points/0/path"},
		{"an empty owner", swap(`"@octo/kernels"`, `""`), "/points/0/owners/0: is required"},
		{"a blob without a digest", swap(strings.Repeat("ab", 32), ``), "/blobs/0/digest: must be a SHA-256"},
		{"a blob twice", swap(`"blobs":[`, `"blobs":[{"digest":"`+strings.Repeat("ab", 32)+`","size":1,"kind":"why"},`), "/blobs/1/digest: occurs twice"},
		{"an empty blob", swap(`"size":12345`, `"size":0`), "/blobs/0/size"},
		{"a blob that is too large", swap(`"size":12345`, `"size":1073741825`), "/blobs/0/size"},
		{"a blob of no kind", swap(`"kind":"record"`, `"kind":"virus"`), "/blobs/0/kind"},
		{"a digest that is a path", swap(strings.Repeat("ab", 32), `../../../../etc/passwd`), "/blobs/0/digest"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := client.Decode([]byte(tc.body), now)
			if err == nil {
				t.Fatal("it was taken")
			}
			if _, ok := errors.AsType[*client.InvalidError](err); !ok && !errors.Is(err, client.ErrTooLarge) {
				t.Errorf("%T is not an error of the sender: %v", err, err)
			}
			if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v\nwant %q", err, tc.want)
			}
			if len(err.Error()) > 500 {
				t.Errorf("%d bytes are no message", len(err.Error()))
			}
		})
	}
}

// A report may ask for as much as the limits allow, and no more is made of it before
// they are looked at: 5 million empty points would be gigabytes.
func TestDecodeBoundsWhatIsBuilt(t *testing.T) {
	body := []byte(`{"points":[` + strings.Repeat(`{},`, 5_000_000) + `{}]}`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := client.Decode(body, now); err == nil {
		t.Fatal("it was taken")
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("%d bytes were allocated to refuse it", n)
	}
}

func TestEncodeRefuses(t *testing.T) {
	r := example(1)
	r.Sentence = strings.Repeat("s", client.MaxText+1)
	if _, err := client.Encode(r); err == nil || !strings.Contains(err.Error(), "more than 4096 bytes") {
		t.Errorf("a long sentence: %v", err)
	}
	r = example(1)
	r.Pawl = strings.Repeat("\x01", 1000) // six bytes each, written
	if _, err := client.Encode(r); err == nil {
		t.Error("text that grows when it is written")
	}
}

func TestKeyIsOfTheRun(t *testing.T) {
	other := example(1)
	other.Run = "01JCPT3Y3JQK6Z0Q8W3V5N7D9G"
	if client.Key(example(1)) != client.Key(example(2)) || client.Key(example(1)) == client.Key(other) {
		t.Error("one run, one key")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(encode(f, example(2)))
	f.Add([]byte(`{"points":[{},{"owners":["\ud83d\ude00"]}]}`))
	f.Add([]byte(`{"commit":{"at":"2026-01-01T00:00:00.5+01:00"}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := client.Decode(body, now)
		if err != nil {
			return
		}
		if err := r.Check(now); err != nil {
			t.Fatalf("taken, and wrong: %v", err)
		}
		again, err := client.Encode(r)
		if err != nil {
			t.Fatalf("taken, and cannot be written: %v", err)
		}
		back, err := client.Decode(again, now)
		if err != nil {
			t.Fatalf("taken, written and refused: %v", err)
		}
		if twice := encode(t, back); !bytes.Equal(twice, again) {
			t.Fatalf("not canonical:\n%s\n%s", again, twice)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	body := encode(b, example(200))
	b.Run("strict", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := client.Decode(body, now); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encoding-json", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		b.ReportAllocs()
		for b.Loop() {
			var r client.Report
			d := json.NewDecoder(bytes.NewReader(body))
			d.DisallowUnknownFields()
			if err := d.Decode(&r); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func ExampleKey() {
	fmt.Println(client.Key(&client.Report{Run: "01JCPT3Y3JQK6Z0Q8W3V5N7D9F"}))
	// Output: 94af96a18d34d0a0ce5c1b7b8a0043d5055d3f93b0ff5515707ec4abd2de9744
}
