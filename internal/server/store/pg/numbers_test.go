package pg

import (
	"bytes"
	"testing"

	"github.com/jackc/pgx/v5/pgtype"
	"pgregory.net/rapid"
)

// Columns are sent as pgx sends them, byte for byte.
func TestNumbersAreSentAsBefore(t *testing.T) {
	ours, theirs := pgtype.NewMap(), pgtype.NewMap()
	sendNumbers(ours)
	rapid.Check(t, func(t *rapid.T) {
		for oid, value := range map[uint32]any{
			pgtype.Int2ArrayOID:   rapid.SliceOf(rapid.Int16()).Draw(t, "int2"),
			pgtype.Int4ArrayOID:   rapid.SliceOf(rapid.Int32()).Draw(t, "int4"),
			pgtype.Int8ArrayOID:   rapid.SliceOf(rapid.Int64()).Draw(t, "int8"),
			pgtype.Float4ArrayOID: rapid.SliceOf(rapid.Float32()).Draw(t, "float4"),
		} {
			for _, format := range []int16{pgtype.BinaryFormatCode, pgtype.TextFormatCode} {
				want, err := theirs.Encode(oid, format, value, []byte("before"))
				if err != nil {
					t.Fatal(err)
				}
				if got, err := ours.Encode(oid, format, value, []byte("before")); err != nil || !bytes.Equal(got, want) {
					t.Fatalf("%T %v: %x, want %x (%v)", value, value, got, want, err)
				}
			}
		}
	})
	// Integers of another size than the column's are pgx's to fit.
	want, err := theirs.Encode(pgtype.Int8ArrayOID, pgtype.BinaryFormatCode, []int32{1, -2}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ours.Encode(pgtype.Int8ArrayOID, pgtype.BinaryFormatCode, []int32{1, -2}, nil); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%x, want %x (%v)", got, want, err)
	}
}

func BenchmarkNumbers(b *testing.B) {
	m := pgtype.NewMap()
	sendNumbers(m)
	list := make([]float32, 200)
	for i := range list {
		list[i] = float32(i) / 7
	}
	var buffer []byte
	for b.Loop() {
		buffer, _ = m.Encode(pgtype.Float4ArrayOID, pgtype.BinaryFormatCode, list, buffer[:0])
	}
}
