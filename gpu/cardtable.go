package gpu

import "slices"

// peaks holds TFLOPS (for INT8: TOPS) by format.
type peaks = map[DType]Cell[float64]

func cardTable() []Card {
	return slices.Concat(voltaAndTuring(), ampere(), ada(), hopperAndBlackwell())
}

func voltaAndTuring() []Card {
	return []Card{
		{
			Name: "V100 SXM2", Arch: "sm_70", drivers: []string{"V100-SXM2-16GB", "V100-SXM2-32GB"},
			SMs: sure(80, fromVolta), L2MB: sure(6.0, fromVolta), BoostMHz: sure(1530, fromVolta),
			MemoryGB: unsure(32, fromVolta), BandwidthGBs: sure(900.0, fromVolta),
			TFLOPS: peaks{FP64: sure(7.8, fromVolta), FP32: sure(15.7, fromVolta), FP16: unsure(125.0, fromVolta)},
		},
		{
			Name: "T4", Arch: "sm_75",
			SMs: sure(40, fromReport), L2MB: sure(4.0, fromReport), BoostMHz: sure(1590, fromReport),
			MemoryGB: sure(16, fromTuring), BandwidthGBs: sure(320.0, fromReport),
			TFLOPS: peaks{
				FP64: sure(0.254, fromArithmetic), FP32: sure(8.1, fromTuring), FP16: sure(65.0, fromTuring), INT8: sure(130.0, fromTuring),
			},
		},
	}
}

func ampere() []Card {
	a100 := func(name, driver string, memory int, bandwidth float64) Card {
		return Card{
			Name: name, Arch: "sm_80", drivers: []string{driver}, FP64Tensor: true,
			SMs: sure(108, fromA100), L2MB: sure(40.0, fromA100), BoostMHz: sure(1410, fromA100),
			MemoryGB: sure(memory, fromA100), BandwidthGBs: sure(bandwidth, fromA100),
			TFLOPS: peaks{
				FP64: unsure(19.5, fromA100), FP32: sure(19.5, fromA100), TF32: sure(156.0, fromA100),
				FP16: sure(312.0, fromA100), BF16: sure(312.0, fromA100), INT8: sure(624.0, fromA100),
			},
		}
	}
	return []Card{
		a100("A100 SXM 40GB", "A100-SXM4-40GB", 40, 1555),
		a100("A100 PCIe 40GB", "A100-PCIE-40GB", 40, 1555),
		a100("A100 SXM 80GB", "A100-SXM4-80GB", 80, 2039),
		a100("A100 PCIe 80GB", "A100 80GB PCIe", 80, 1935),
		{
			Name: "A10", Arch: "sm_86",
			SMs: unsure(72, fromA10), L2MB: unsure(6.0, fromA10), BoostMHz: unsure(1695, fromA10),
			MemoryGB: sure(24, fromA10), BandwidthGBs: sure(600.0, fromA10),
			TFLOPS: peaks{
				FP64: sure(0.488, fromArithmetic), FP32: sure(31.2, fromA10), TF32: sure(62.5, fromA10),
				FP16: sure(125.0, fromA10), BF16: sure(125.0, fromA10), INT8: sure(250.0, fromA10),
			},
		},
		{
			Name: "A10G", Arch: "sm_86",
			SMs: sure(80, fromProperties), L2MB: sure(6.0, fromProperties), BoostMHz: unsure(1710, fromProperties),
			MemoryGB: sure(24, fromA10G), BandwidthGBs: sure(600.0, fromA10G),
			TFLOPS: peaks{
				FP64: unsure(0.547, fromArithmetic), FP32: unsure(35.0, fromA10G), TF32: unsure(35.0, fromA10G),
				FP16: unsure(70.0, fromA10G), BF16: unsure(70.0, fromA10G), INT8: unsure(140.0, fromA10G),
			},
		},
		{
			Name: "RTX 3090", Arch: "sm_86",
			SMs: sure(82, fromGA102), L2MB: sure(6.0, fromGA102), BoostMHz: unsure(1695, fromGA102),
			MemoryGB: sure(24, fromGA102), BandwidthGBs: unsure(936.0, fromGA102),
			TFLOPS: peaks{
				FP64: sure(0.556, fromArithmetic), FP32: sure(35.6, fromGA102), TF32: unsure(35.6, fromGA102),
				FP16: unsure(71.0, fromGA102), BF16: unsure(71.0, fromGA102), INT8: unsure(284.0, fromGA102),
			},
			Narrow: peaks{FP16: unsure(142.0, fromGA102)},
		},
	}
}

func ada() []Card {
	return []Card{
		{
			Name: "L4", Arch: "sm_89",
			SMs: sure(58, fromReport), L2MB: sure(48.0, fromL4), BoostMHz: unsure(2040, fromL4),
			MemoryGB: sure(24, fromL4), BandwidthGBs: sure(300.0, fromL4),
			TFLOPS: peaks{
				FP64: sure(0.473, fromArithmetic), FP32: sure(30.3, fromL4), TF32: sure(60.0, fromL4),
				FP16: sure(121.0, fromL4), BF16: sure(121.0, fromL4), FP8: sure(242.5, fromL4), INT8: sure(242.5, fromL4),
			},
		},
		{
			Name: "L40S", Arch: "sm_89",
			SMs: sure(142, fromL40S), L2MB: unsure(96.0, fromProperties), BoostMHz: sure(2520, fromL40S),
			MemoryGB: sure(48, fromL40S), BandwidthGBs: sure(864.0, fromL40S),
			TFLOPS: peaks{
				FP64: sure(1.43, fromArithmetic), FP32: sure(91.6, fromL40S), TF32: sure(183.0, fromL40S),
				FP16: sure(362.0, fromL40S), BF16: sure(362.0, fromL40S), FP8: sure(733.0, fromL40S), INT8: sure(733.0, fromL40S),
			},
		},
		{
			Name: "RTX 4090", Arch: "sm_89",
			SMs: sure(128, fromAda), L2MB: sure(72.0, fromAda), BoostMHz: unsure(2520, fromAda),
			MemoryGB: sure(24, fromAda), BandwidthGBs: sure(1008.0, fromAda),
			TFLOPS: peaks{
				FP64: sure(1.29, fromArithmetic), FP32: sure(82.6, fromAda), TF32: sure(82.6, fromAda),
				FP16: sure(165.2, fromAda), BF16: sure(165.2, fromAda), FP8: sure(330.3, fromAda), INT8: sure(660.6, fromAda),
			},
			Narrow: peaks{FP16: sure(330.3, fromAda), FP8: sure(660.6, fromAda)},
		},
	}
}

func hopperAndBlackwell() []Card {
	hopper := func(from Source) peaks { // the H200 is an H100 with different memory
		return peaks{
			FP64: sure(67.0, from), FP32: sure(67.0, from), TF32: sure(494.7, from),
			FP16: sure(989.4, from), BF16: sure(989.4, from), FP8: sure(1979.0, from), INT8: sure(1979.0, from),
		}
	}
	return []Card{
		{
			Name: "H100 SXM", Arch: "sm_90", drivers: []string{"H100 80GB HBM3", "H100 SXM5"}, FP64Tensor: true,
			SMs: sure(132, fromHopper), L2MB: sure(50.0, fromProperties), BoostMHz: sure(1980, fromProperties),
			MemoryGB: sure(80, fromHopper), BandwidthGBs: sure(3350.0, fromHopper), TFLOPS: hopper(fromHopper),
		},
		{
			Name: "H100 PCIe", Arch: "sm_90", FP64Tensor: true,
			SMs: sure(114, fromHopper), L2MB: sure(50.0, fromHopper), BoostMHz: unsure(1755, fromHopper),
			MemoryGB: sure(80, fromHopper), BandwidthGBs: sure(2000.0, fromHopper),
			TFLOPS: peaks{
				FP64: sure(51.0, fromHopper), FP32: sure(51.0, fromHopper), TF32: sure(378.0, fromHopper),
				FP16: sure(756.0, fromHopper), BF16: sure(756.0, fromHopper), FP8: sure(1513.0, fromHopper), INT8: sure(1513.0, fromHopper),
			},
		},
		{
			Name: "H200 SXM", Arch: "sm_90", drivers: []string{"H200"}, FP64Tensor: true,
			SMs: sure(132, fromH200), L2MB: unsure(60.0, fromProperties), BoostMHz: sure(1980, fromProperties),
			MemoryGB: sure(141, fromH200), BandwidthGBs: sure(4800.0, fromH200), TFLOPS: hopper(fromH200),
		},
		{
			Name: "B200", Arch: "sm_100", FP64Tensor: true,
			SMs: sure(148, fromProperties), L2MB: sure(126.0, fromProperties),
			MemoryGB: unsure(192, fromB200), BandwidthGBs: unsure(8000.0, fromB200),
			TFLOPS: peaks{
				FP64: unsure(40.0, fromB200), FP32: unsure(80.0, fromB200), TF32: unsure(1125.0, fromB200),
				FP16: sure(2250.0, fromB200), BF16: sure(2250.0, fromB200), FP8: sure(4500.0, fromB200),
				FP4: sure(9000.0, fromB200), INT8: sure(4500.0, fromB200),
			},
		},
		{
			Name: "RTX 5090", Arch: "sm_120",
			SMs: sure(170, fromRTX50), L2MB: sure(96.0, fromRTX50), BoostMHz: unsure(2407, fromRTX50),
			MemoryGB: sure(32, fromRTX50), BandwidthGBs: sure(1792.0, fromRTX50),
			TFLOPS: peaks{
				FP64: sure(1.64, fromArithmetic), FP32: sure(104.8, fromRTX50), TF32: unsure(104.8, fromRTX50),
				FP16: sure(209.5, fromRTX50), BF16: sure(209.5, fromRTX50), FP8: sure(419.0, fromRTX50),
				FP4: sure(1676.0, fromRTX50), INT8: unsure(838.0, fromRTX50),
			},
			Narrow: peaks{FP16: sure(419.0, fromRTX50), FP8: sure(838.0, fromRTX50)},
		},
	}
}
