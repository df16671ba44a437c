package tuning

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
)

// playing makes the test's own program a harness.
const playing = "PAWL_TEST_TUNE"

// hangs makes one point hang until it is killed.
const hangs = "PAWL_TEST_HANGS"

// elsewhere says what its kernel does on the config that is not tuned.
const elsewhere = "PAWL_TEST_ELSEWHERE"

// speeds names a file with the speed of the machine, which every request to prepare a case changes.
const speeds = "PAWL_TEST_SPEEDS"

func TestMain(m *testing.M) {
	switch os.Getenv(playing) {
	case "":
	case "search":
		os.Exit(searchTuned(os.Args[1:]))
	case "burn":
		burn()
	default:
		os.Exit(playTuned())
	}
	os.Exit(m.Run())
}

// tunedTime is what a run of a point takes, in nanoseconds: the best is BLOCK 64, UNROLL 4.
func tunedTime(block, unroll float64) float64 {
	x, y := math.Log2(block)-6, math.Log2(unroll)-2
	return 1000 * (1 + 0.2*x*x + 0.1*y*y + 0.05*math.Abs(x*y))
}

type tunedRequest struct {
	ID              int
	Op              string
	Params          map[string]any
	Timer           string
	Samples         int
	Inputs, Outputs string
}

// playTuned is a harness of a kernel that doubles its input. What was built has to be what it
// is asked for, else builds got mixed up.
func playTuned() int {
	in, out := os.NewFile(3, "in"), os.NewFile(4, "out")
	built, _ := os.ReadFile("built.txt")
	var q tunedRequest
	var params map[string]any
	noise := 0
	for s := bufio.NewScanner(in); s.Scan(); {
		q = tunedRequest{}
		if json.Unmarshal(s.Bytes(), &q) != nil {
			return 2
		}
		reply := ""
		switch q.Op {
		case "hello":
			reply = `"protocol":1,"sdk":"test","timers":["wall"],"features":["check"]`
		case "prepare":
			changeSpeed()
			params = q.Params
			reply = fmt.Sprintf(`"timer":%q`, q.Timer)
			if want := fmt.Sprintf("%v %v", params["BLOCK"], params["UNROLL"]); strings.TrimSpace(string(built)) != want {
				reply = fmt.Sprintf(`"error":{"code":"failed","message":"built is %s, asked for is %s"}`, strings.TrimSpace(string(built)), want)
			}
		case "check":
			if err := double(q.Inputs, q.Outputs, params["BLOCK"] == 128.0 && params["UNROLL"] == 8.0); err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 3
			}
			reply = `"supported":true`
		case "measure":
			switch {
			case params["BLOCK"] == 256.0 && params["UNROLL"] == 1.0:
				return 9
			case params["BLOCK"] == 256.0 && params["UNROLL"] == 2.0 && os.Getenv(hangs) != "":
				time.Sleep(10 * time.Minute) // or until it is killed
			}
			time := tunedTime(params["BLOCK"].(float64), params["UNROLL"].(float64))
			if os.Getenv(elsewhere) == "loses" && params["N"] == 64.0 {
				time = 2e6 / time // what is good for the other size is bad for this one
			}
			if os.Getenv(elsewhere) == "crashes" && params["N"] == 64.0 && params["BLOCK"] == 64.0 && params["UNROLL"] == 4.0 {
				return 9
			}
			var list []string
			for range q.Samples {
				noise = (noise*1103515245 + 12345) & 0x7fffffff
				list = append(list, fmt.Sprint(slowdown()*time*(1+0.01*float64(noise%100)/100)))
			}
			reply = fmt.Sprintf(`"count":%d,"batch":1,"samples":[%s]`, q.Samples, strings.Join(list, ","))
		}
		if reply != "" {
			reply = "," + reply
		}
		fmt.Fprintf(out, `{"id":%d,"op":%q%s}`+"\n", q.ID, q.Op, reply)
		if q.Op == "bye" {
			return 0
		}
	}
	return 0
}

// changeSpeed makes the machine slower or faster, for all processes.
func changeSpeed() {
	if path := os.Getenv(speeds); path != "" {
		next := map[float64]string{1: "1.5", 1.5: "1.2", 1.2: "1"}[slowdown()]
		_ = os.WriteFile(path, []byte(next), 0o600)
	}
}

func slowdown() float64 {
	text, err := os.ReadFile(os.Getenv(speeds))
	x, wrong := strconv.ParseFloat(string(text), 64)
	if err != nil || wrong != nil {
		return 1
	}
	return x
}

// double computes what is right, or half of it.
func double(inputs, outputs string, wrong bool) error {
	list, err := tensor.Load(inputs, 1<<20)
	if err != nil {
		return err
	}
	y := list[0]
	y.Name, y.Data = "y", append([]byte{}, y.Data...)
	for i := 0; i+4 <= len(y.Data) && !wrong; i += 4 {
		y.Data[i+3], y.Data[i+2] = doubled(y.Data[i+3], y.Data[i+2])
	}
	f, err := os.Create(outputs)
	if err != nil {
		return err
	}
	if err := tensor.Format(f, []tensor.Tensor{y}); err != nil {
		return err
	}
	return f.Close()
}

// doubled adds one to the exponent of a float.
func doubled(high, low byte) (byte, byte) {
	exponent := (int(high)&0x7f)<<1 | int(low)>>7
	if exponent != 0 {
		exponent++
	}
	return high&0x80 | byte(exponent>>1), low&0x7f | byte(exponent<<7)
}
