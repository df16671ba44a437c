package pg

import (
	"encoding/binary"
	"math"

	"github.com/jackc/pgx/v5/pgtype"
)

// numbers encodes slices of numbers. pgx allocates a value for every element, which is a tenth of
// the server's cost of a report. This codec writes PostgreSQL's binary format directly and leaves
// the rest to pgx.
type numbers struct {
	*pgtype.ArrayCodec
	element uint32
}

// sendNumbers registers the codec for a connection.
func sendNumbers(m *pgtype.Map) {
	for array, element := range map[uint32]uint32{
		pgtype.Int2ArrayOID: pgtype.Int2OID, pgtype.Int4ArrayOID: pgtype.Int4OID, pgtype.Int8ArrayOID: pgtype.Int8OID, pgtype.Float4ArrayOID: pgtype.Float4OID,
	} {
		if t, ok := m.TypeForOID(array); ok {
			if codec, ok := t.Codec.(*pgtype.ArrayCodec); ok {
				m.RegisterType(&pgtype.Type{Name: t.Name, OID: array, Codec: numbers{codec, element}})
			}
		}
	}
}

// PlanEncode implements pgtype.Codec.
func (n numbers) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	if format == pgtype.BinaryFormatCode && elementOf(value) == n.element {
		return numbersPlan(n.element)
	}
	return n.ArrayCodec.PlanEncode(m, oid, format, value)
}

// elementOf returns the PostgreSQL type that matches a slice's elements.
func elementOf(value any) uint32 {
	switch value.(type) {
	case []int16:
		return pgtype.Int2OID
	case []int32:
		return pgtype.Int4OID
	case []int64:
		return pgtype.Int8OID
	case []float32:
		return pgtype.Float4OID
	}
	return 0
}

type numbersPlan uint32

// Encode implements pgtype.EncodePlan. The header has one dimension, no nulls, the element type,
// the length and the first index. Each element follows its size.
func (element numbersPlan) Encode(value any, b []byte) ([]byte, error) {
	begin := func(n int) {
		for _, v := range [...]uint32{1, 0, uint32(element), uint32(n), 1} {
			b = binary.BigEndian.AppendUint32(b, v)
		}
	}
	switch list := value.(type) {
	case []int16:
		begin(len(list))
		for _, v := range list {
			b = binary.BigEndian.AppendUint16(append(b, 0, 0, 0, 2), uint16(v))
		}
	case []int32:
		begin(len(list))
		for _, v := range list {
			b = binary.BigEndian.AppendUint32(append(b, 0, 0, 0, 4), uint32(v))
		}
	case []int64:
		begin(len(list))
		for _, v := range list {
			b = binary.BigEndian.AppendUint64(append(b, 0, 0, 0, 8), uint64(v))
		}
	case []float32:
		begin(len(list))
		for _, v := range list {
			b = binary.BigEndian.AppendUint32(append(b, 0, 0, 0, 4), math.Float32bits(v))
		}
	}
	return b, nil
}
