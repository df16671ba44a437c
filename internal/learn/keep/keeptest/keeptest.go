// Package keeptest checks that what is packed is packed whole.
package keeptest

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/learn/keep"
)

// Fill gives every field of a thing, however deep, a value of its own: what is added to a
// type and not packed then does not come back.
func Fill(thing any) {
	n := 0
	fill(reflect.ValueOf(thing).Elem(), &n)
}

func fill(v reflect.Value, n *int) {
	*n++
	if v.Type() == reflect.TypeFor[time.Time]() {
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
		fill(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), n)
		fill(v.Index(1), n)
	case reflect.Struct:
		for _, field := range v.Fields() {
			fill(field, n)
		}
	default:
		panic(v.Type().String())
	}
}

// Fuzz holds that whatever is unpacked without a complaint can be packed again.
func Fuzz[T any](f *testing.F, seed keep.Pack, pack func(*keep.Pack, *T), unpack func(*keep.Unpack, *T)) {
	f.Helper()
	f.Add(string(seed))
	f.Add(strings.Repeat("\xff", 20))
	f.Fuzz(func(t *testing.T, text string) {
		var got, same T
		if keep.Pack(text).Open(func(u *keep.Unpack) { unpack(u, &got) }) != nil {
			return
		}
		var again keep.Pack
		pack(&again, &got)
		if err := again.Open(func(u *keep.Unpack) { unpack(u, &same) }); err != nil {
			t.Fatal(err)
		}
	})
}
