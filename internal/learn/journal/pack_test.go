package journal

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Every field of a summary comes back: a field that is added and not packed fails here.
func TestPackHasEveryField(t *testing.T) {
	var s Summary
	n := 0
	setAll(reflect.ValueOf(&s).Elem(), &n)
	s.Path = "" // not kept
	var p pack
	p.summary(&s)
	var got Summary
	u := unpack{s: string(p)}
	if err := u.summary(&got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s, got); diff != "" {
		t.Error(diff)
	}
}

// setAll gives every field a value of its own.
func setAll(v reflect.Value, n *int) {
	*n++
	if v.Type() == timeType {
		v.Set(reflect.ValueOf(time.Unix(int64(*n), 5).UTC()))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprint("text ", *n))
	case reflect.Float64:
		v.SetFloat(float64(*n) + 0.5)
	case reflect.Int:
		v.SetInt(int64(*n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		setAll(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		setAll(v.Index(0), n)
		setAll(v.Index(1), n)
	case reflect.Struct:
		for _, field := range v.Fields() {
			setAll(field, n)
		}
	default:
		panic(v.Type().String())
	}
}

func FuzzUnpack(f *testing.F) {
	var s Summary
	n := 0
	setAll(reflect.ValueOf(&s).Elem(), &n)
	var p pack
	p.summary(&s)
	f.Add(string(p))
	f.Add(strings.Repeat("\xff", 20))
	f.Fuzz(func(t *testing.T, text string) {
		var got Summary
		u := unpack{s: text}
		if err := u.summary(&got); err != nil {
			return
		}
		var again pack
		again.summary(&got)
		var same Summary
		if err := (&unpack{s: string(again)}).summary(&same); err != nil {
			t.Fatal(err)
		}
	})
}
