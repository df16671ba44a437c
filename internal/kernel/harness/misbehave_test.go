package harness_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// forever is longer than any test waits. A harness that is not killed exits after it.
const forever = 10 * time.Minute

// play is a harness without an SDK. It keeps to the protocol except where its
// mode says otherwise.
func play(mode string) int {
	in, out := pipeFile("PAWL_IN"), pipeFile("PAWL_OUT")
	fmt.Fprintln(os.Stderr, "about to crash \x1b[31m(maybe)")
	if mode == "crash-early" {
		return 3
	}
	if mode == "chatty" {
		fmt.Println("hello from stdout")
		fmt.Fprintln(os.Stderr, "hello from stderr")
	}
	requests := bufio.NewScanner(in)
	for requests.Scan() {
		var req struct {
			ID             int    `json:"id"`
			Op             string `json:"op"`
			Implementation string `json:"implementation"`
		}
		if err := json.Unmarshal(requests.Bytes(), &req); err != nil {
			return 100
		}
		if mode == "candidate-only" && req.Op == "prepare" && req.Implementation != "candidate" {
			fmt.Fprintf(out, `{"id":%d,"op":"prepare","error":{"code":"no_such_implementation","message":"spin has no implementation %s"}}`+"\n", req.ID, req.Implementation)
			continue
		}
		if code := answer(mode, req.ID, req.Op, out); code >= 0 {
			return code
		}
	}
	return 101 // pawl went away without bye
}

func pipeFile(name string) *os.File {
	fd, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		os.Exit(102)
	}
	return os.NewFile(uintptr(fd), name)
}

// answer sends the reply to one request; it returns an exit code, or -1 to go on.
func answer(mode string, id int, op string, out *os.File) int {
	say := func(format string, args ...any) { fmt.Fprintf(out, format+"\n", args...) }
	switch op {
	case "hello":
		switch mode {
		case "version-2":
			say(`{"id":%d,"op":"hello","protocol":2,"sdk":"old-sdk 0.1"}`, id)
		case "version-refused":
			say(`{"id":%d,"op":"hello","error":{"code":"unsupported","message":"only version 2"}}`, id)
		default:
			say(`{"id":%d,"op":"hello","protocol":1,"sdk":"test 1","timers":["wall"],"features":["check","run","keep","profile"],"new_field":{"a":[1]}}`, id)
		}
	case "cases":
		say(`{"id":%d,"op":"cases","benchmarks":[{"name":"spin","implementations":["candidate"],"configs":[{"us":50}]}]}`, id)
		if mode == "unasked" {
			say(`{"id":%d,"op":"cases","benchmarks":[]}`, id)
		}
	case "prepare":
		switch mode {
		case "refuse":
			say(`{"id":%d,"op":"prepare","error":{"code":"no_memory","message":"no room for 7 TiB"}}`, id)
		case "lost-device":
			say(`{"id":%d,"op":"prepare","error":{"code":"lost_device","message":"an illegal memory access"}}`, id)
		case "other-timer":
			say(`{"id":%d,"op":"prepare","timer":"sundial"}`, id)
		default:
			say(`{"id":%d,"op":"prepare","timer":"wall","quantum_ns":1}`, id)
		}
	case "measure":
		return answerMeasure(mode, id, out, say)
	case "check", "run", "compute":
		answerCorrect(mode, id, op, say)
	case "profile":
		answerProfile(mode, id, say)
	case "bye":
		say(`{"id":%d,"op":"bye"}`, id)
		if mode == "dies-after-bye" {
			return 9
		}
		return 0
	}
	return -1
}

func answerMeasure(mode string, id int, out *os.File, say func(string, ...any)) int {
	reply := func(count int, samples, wall string) {
		say(`{"id":%d,"op":"measure","count":%d,"batch":2,"samples":%s,"wall":%s}`, id, count, samples, wall)
	}
	kept := func(list string) {
		say(`{"id":%d,"op":"measure","count":5,"batch":2,"samples":[1,2,3,4,5],"kept":[%s]}`, id, list)
	}
	switch mode {
	case "crash":
		return 7
	case "killed":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		time.Sleep(forever)
	case "hang":
		time.Sleep(forever)
	case "grandchild":
		child := exec.Command("sleep", "600")
		child.Stdout = os.Stdout
		if err := child.Start(); err != nil {
			return 103
		}
		_ = os.WriteFile(os.Getenv("PAWL_TEST_PIDFILE"), []byte(strconv.Itoa(child.Process.Pid)), 0o644)
		time.Sleep(forever)
	case "endless": // samples without end
		part := fmt.Sprintf(`{"id":%d,"op":"samples","samples":[%s1]}`, id, strings.Repeat("1,", 999))
		for range 30 {
			say("%s", part)
		}
		time.Sleep(forever)
	case "drip": // signs of life without end
		for range forever / (10 * time.Millisecond) {
			say(`{"id":%d,"op":"samples"}`, id)
			time.Sleep(10 * time.Millisecond)
		}
	case "garbage":
		say("Result: 42 GFLOP/s \x1b[2J")
	case "not-an-object":
		say("[1,2,3]")
	case "wrong-type":
		say(`{"id":%d,"op":"measure","count":"five","samples":[1]}`, id)
	case "wrong-id":
		say(`{"id":%d,"op":"measure","count":5,"samples":[1,2,3,4,5]}`, id-1)
	case "wrong-op":
		say(`{"id":%d,"op":"prepare","timer":"wall"}`, id)
	case "too-few":
		reply(4, "[1,2,3,4]", "[]")
	case "count-lie":
		reply(5, "[1,2,3,4]", "[]")
	case "no-samples":
		reply(0, "[]", "[]")
	case "beside-lie":
		reply(5, "[1,2,3,4,5]", "[1,2,3]")
	case "zero-sample":
		reply(5, "[1,2,0,4,5]", "[]")
	case "negative-sample":
		reply(5, "[1,2,-1,4,5]", "[]")
	case "sums": // one number a sample, in two parts
		say(`{"id":%d,"op":"samples","samples":[1,2,3],"sums":"000000000000f03f00000000000000400000000000000840"}`, id)
		say(`{"id":%d,"op":"measure","count":5,"samples":[4,5],"sums":"00000000000010400000000000001440"}`, id)
	case "values": // one metric in two parts, another in the last
		say(`{"id":%d,"op":"samples","samples":[1,2,3],"values":[{"metric":"tok/s","unit":"tok/s","better":"higher","samples":[7,8]}]}`, id)
		say(`{"id":%d,"op":"measure","count":5,"samples":[4,5],"values":[{"metric":"tok/s","unit":"tok/s","better":"higher","samples":[9]},{"metric":"errors","unit":"errors","better":"lower","samples":[0,-1]}]}`, id)
	case "value-units":
		say(`{"id":%d,"op":"samples","samples":[1,2,3],"values":[{"metric":"a","unit":"s","better":"lower","samples":[7]}]}`, id)
		say(`{"id":%d,"op":"measure","count":5,"samples":[4,5],"values":[{"metric":"a","unit":"ms","better":"lower","samples":[9]}]}`, id)
	case "value-name", "value-time", "value-unit", "value-better", "value-none":
		say(`{"id":%d,"op":"measure","count":5,"samples":[1,2,3,4,5],"values":[%s]}`, id, map[string]string{
			"value-name":   `{"metric":"a\u001b[2J","unit":"s","better":"lower","samples":[1]}`,
			"value-time":   `{"metric":"time","unit":"s","better":"lower","samples":[1]}`,
			"value-unit":   `{"metric":"a","better":"lower","samples":[1]}`,
			"value-better": `{"metric":"a","unit":"s","samples":[1]}`,
			"value-none":   `{"metric":"a","unit":"s","better":"lower","samples":[]}`,
		}[mode])
	case "closes-pipe":
		out.Close()
		time.Sleep(forever)
	case "parts":
		say(`{"id":%d,"op":"samples","samples":[1,2],"wall":[2,3]}`, id)
		say(`{"id":%d,"op":"samples"}`, id)
		say(`{"id":%d,"op":"samples","samples":[3],"wall":[4]}`, id)
		reply(5, "[4,5]", "[5,6]")
	case "keeps":
		kept(`{"sample":4,"inputs":"/keep/0-in.safetensors","outputs":"/keep/0-out.safetensors"}`)
	case "keeps-too-many":
		kept(`{"sample":4},{"sample":3}`)
	case "keeps-elsewhere":
		kept(`{"sample":4,"inputs":"/etc/passwd","outputs":"/keep/0-out.safetensors"}`)
	case "keeps-none-such":
		kept(`{"sample":5,"inputs":"/keep/0-in.safetensors","outputs":"/keep/0-out.safetensors"}`)
	default:
		reply(5, "[1,2,3,4,5]", "[2,3,4,5,6]")
	}
	return -1
}

// answerCorrect answers what correctness is asked with.
func answerCorrect(mode string, id int, op string, say func(string, ...any)) {
	switch mode + " " + op {
	case "no-arguments check":
		say(`{"id":%d,"op":"check","supported":false}`, id)
	case "tampers check":
		say(`{"id":%d,"op":"check","error":{"code":"integrity","message":"the kernel changed its input q\u001b[2J"}}`, id)
	case "few-runs run":
		say(`{"id":%d,"op":"run","iterations":36}`, id)
	case "no-oracle compute":
		say(`{"id":%d,"op":"compute","error":{"code":"no_such_benchmark","message":"no spin here"}}`, id)
	case "garbled compute":
		say(`{"id":%d,"op":"compute","naive":"perhaps"}`, id)
	default:
		say(`{"id":%d,"op":%q,"supported":true,"iterations":37,"naive":true}`, id, op)
	}
}

// answerProfile tells of launches where its mode is about them.
func answerProfile(mode string, id int, say func(string, ...any)) {
	launches := func(list string) { say(`{"id":%d,"op":"profile","iterations":2,"launches":[%s]}`, id, list) }
	switch mode {
	case "launches":
		launches(`{"kernel":"steps\u001b[2J","queued":0,"submit":1,"start":20.5,"end":30,"global":[64,2],"local":[8,1]},{"kernel":"sum","end":40}`)
	case "few-profiled":
		say(`{"id":%d,"op":"profile","iterations":1}`, id)
	case "backward-launch":
		launches(`{"kernel":"steps","start":5,"end":3}`)
	case "early-launch":
		launches(`{"kernel":"steps","queued":-1}`)
	case "four-dimensions":
		launches(`{"kernel":"steps","global":[1,1,1,1]}`)
	case "empty-launch":
		launches(`{"kernel":"steps","local":[0]}`)
	case "many-launches":
		launches(strings.Repeat(`{},`, 1<<16) + `{}`)
	default:
		say(`{"id":%d,"op":"profile","iterations":2}`, id)
	}
}
