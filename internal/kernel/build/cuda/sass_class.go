package cuda

import (
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/measure"
)

// classes maps the part of an instruction's name before the first dot to its class, from Maxwell to
// Blackwell. Names on no list are "other".
var classes = func() map[string]string {
	m := map[string]string{}
	for class, names := range map[string]string{
		measure.OpLoadGlobal:   "LDG LD",
		measure.OpLoadShared:   "LDS LDSM",
		measure.OpLoadLocal:    "LDL",
		measure.OpLoadConstant: "LDC ULDC LDCU",
		measure.OpStoreGlobal:  "STG ST",
		measure.OpStoreShared:  "STS STSM",
		measure.OpStoreLocal:   "STL",
		measure.OpAsyncCopy:    "LDGSTS UBLKCP UTMALDG UTMASTG",
		measure.OpFMA32:        "FFMA FFMA2 FFMA32I",
		measure.OpFP32:         "FADD FADD2 FADD32I FMUL FMUL2 FMUL32I FSET FSETP FSEL FMNMX FMNMX3 FCMP FCHK FSWZADD FSWZ FFMASCALE",
		measure.OpFP64:         "DADD DMUL DFMA DSET DSETP DMNMX",
		measure.OpFP16:         "HADD2 HADD2_32I HMUL2 HMUL2_32I HFMA2 HFMA2_32I HSET2 HSETP2 HMNMX2",
		measure.OpTensor:       "HMMA IMMA DMMA BMMA QMMA OMMA HGMMA IGMMA QGMMA BGMMA UTCHMMA UTCQMMA UTCIMMA UTCOMMA",
		measure.OpSpecial:      "MUFU RRO",
		measure.OpConversion:   "F2F F2I I2F I2I I2FP F2FP F2IP I2IP FRND",
		measure.OpBranch:       "BRA BRX BRXU JMP JMX JMXU CALL CAL JCAL RET EXIT BREAK BRK CONT BSSY BSYNC BMOV SSY SYNC PBK PCNT PRET KILL YIELD RPCMOV WARPSYNC NANOSLEEP",
		measure.OpBarrier:      "BAR SYNCS UCGABAR_ARV UCGABAR_WAIT",
		measure.OpFence:        "DEPBAR LDGDEPBAR MEMBAR ERRBAR FENCE ARRIVES WARPGROUP",
		measure.OpAtomic:       "ATOM ATOMG ATOMS RED REDG REDS",
		measure.OpShuffle:      "SHFL VOTE VOTEU MATCH REDUX CREDUX",
		measure.OpInteger: "IADD IADD3 IADD32I IMAD IMUL IMUL32I IMNMX VIMNMX ISETP ISET ICMP ISCADD ISCADD32I LEA LOP LOP3 LOP32I SHF SHL SHR XMAD " +
			"POPC FLO BREV BMSK SGXT IABS IDP IDP4A VABSDIFF VABSDIFF4 BFE BFI MOV MOV32I MOVM SEL PRMT PLOP3 P2R R2P PSETP PSET VIADD VIADDMNMX LEPC " +
			"UIADD3 UIMAD UISETP ULEA ULOP ULOP3 USHF USHL USHR UMOV USEL UPRMT UPOPC UFLO UBREV UBMSK USGXT UPLOP3 UP2UR R2UR UR2UP UVIADD",
	} {
		for name := range strings.FieldsSeq(names) {
			m[name] = class
		}
	}
	return m
}()

// movingClasses lists the classes that have a width.
var movingClasses = []string{
	measure.OpLoadGlobal, measure.OpLoadShared, measure.OpLoadLocal, measure.OpStoreGlobal, measure.OpStoreShared, measure.OpStoreLocal, measure.OpAsyncCopy,
}

// classify returns the class of an instruction, and how many bytes it moves per thread.
func classify(name, operands string) (class string, bytes int) {
	parts := strings.Split(name, ".")
	class, known := classes[parts[0]]
	switch {
	case !known:
		return measure.OpOther, 0
	case parts[0] == "HFMA2" && strings.Contains(operands, "-RZ, RZ"):
		return measure.OpInteger, 0 // the compiler loads a constant into a register this way
	case !slices.Contains(movingClasses, class):
		return class, 0
	case parts[0] == "LDSM" || parts[0] == "STSM": // moves a number of 8x8 matrices, each 4 bytes per thread
		switch parts[len(parts)-1] {
		case "4":
			return class, 16
		case "2":
			return class, 8
		}
		return class, 4
	case strings.HasPrefix(parts[0], "U"):
		return class, 0 // one instruction for a whole tile: there is no width per thread
	}
	return class, width(parts[1:])
}

// width returns the bytes that the suffixes of a load or store specify. A suffix like .LTC128B is only
// a cache hint.
func width(suffixes []string) int {
	for _, s := range suffixes {
		switch s {
		case "256":
			return 32
		case "128":
			return 16
		case "64":
			return 8
		case "U16", "S16", "16":
			return 2
		case "U8", "S8", "8":
			return 1
		}
	}
	return 4
}
