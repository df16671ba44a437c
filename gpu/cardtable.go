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
			SMs: certain(80, fromVolta), L2MB: certain(6.0, fromVolta), BoostMHz: certain(1530, fromVolta),
			MemoryGB: uncertain(32, fromVolta), BandwidthGBs: certain(900.0, fromVolta),
			TFLOPS: peaks{FP64: certain(7.8, fromVolta), FP32: certain(15.7, fromVolta), FP16: uncertain(125.0, fromVolta)},
		},
		{
			Name: "T4", Arch: "sm_75",
			SMs: certain(40, fromReport), L2MB: certain(4.0, fromReport), BoostMHz: certain(1590, fromReport),
			MemoryGB: certain(16, fromTuring), BandwidthGBs: certain(320.0, fromReport),
			TFLOPS: peaks{
				FP64: certain(0.254, fromArithmetic), FP32: certain(8.1, fromTuring), FP16: certain(65.0, fromTuring), INT8: certain(130.0, fromTuring),
			},
		},
	}
}

func ampere() []Card {
	a100 := func(name, driver string, memory int, bandwidth float64) Card {
		return Card{
			Name: name, Arch: "sm_80", drivers: []string{driver}, FP64Tensor: true,
			SMs: certain(108, fromA100), L2MB: certain(40.0, fromA100), BoostMHz: certain(1410, fromA100),
			MemoryGB: certain(memory, fromA100), BandwidthGBs: certain(bandwidth, fromA100),
			TFLOPS: peaks{
				FP64: uncertain(19.5, fromA100), FP32: certain(19.5, fromA100), TF32: certain(156.0, fromA100),
				FP16: certain(312.0, fromA100), BF16: certain(312.0, fromA100), INT8: certain(624.0, fromA100),
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
			SMs: uncertain(72, fromA10), L2MB: uncertain(6.0, fromA10), BoostMHz: uncertain(1695, fromA10),
			MemoryGB: certain(24, fromA10), BandwidthGBs: certain(600.0, fromA10),
			TFLOPS: peaks{
				FP64: certain(0.488, fromArithmetic), FP32: certain(31.2, fromA10), TF32: certain(62.5, fromA10),
				FP16: certain(125.0, fromA10), BF16: certain(125.0, fromA10), INT8: certain(250.0, fromA10),
			},
		},
		{
			Name: "A10G", Arch: "sm_86",
			SMs: certain(80, fromProperties), L2MB: certain(6.0, fromProperties), BoostMHz: uncertain(1710, fromProperties),
			MemoryGB: certain(24, fromA10G), BandwidthGBs: certain(600.0, fromA10G),
			TFLOPS: peaks{
				FP64: uncertain(0.547, fromArithmetic), FP32: uncertain(35.0, fromA10G), TF32: uncertain(35.0, fromA10G),
				FP16: uncertain(70.0, fromA10G), BF16: uncertain(70.0, fromA10G), INT8: uncertain(140.0, fromA10G),
			},
		},
		{
			Name: "RTX 3090", Arch: "sm_86",
			SMs: certain(82, fromGA102), L2MB: certain(6.0, fromGA102), BoostMHz: uncertain(1695, fromGA102),
			MemoryGB: certain(24, fromGA102), BandwidthGBs: uncertain(936.0, fromGA102),
			TFLOPS: peaks{
				FP64: certain(0.556, fromArithmetic), FP32: certain(35.6, fromGA102), TF32: uncertain(35.6, fromGA102),
				FP16: uncertain(71.0, fromGA102), BF16: uncertain(71.0, fromGA102), INT8: uncertain(284.0, fromGA102),
			},
			FP16AccumTFLOPS: peaks{FP16: uncertain(142.0, fromGA102)},
		},
	}
}

func ada() []Card {
	return []Card{
		{
			Name: "L4", Arch: "sm_89",
			SMs: certain(58, fromReport), L2MB: certain(48.0, fromL4), BoostMHz: uncertain(2040, fromL4),
			MemoryGB: certain(24, fromL4), BandwidthGBs: certain(300.0, fromL4),
			TFLOPS: peaks{
				FP64: certain(0.473, fromArithmetic), FP32: certain(30.3, fromL4), TF32: certain(60.0, fromL4),
				FP16: certain(121.0, fromL4), BF16: certain(121.0, fromL4), FP8: certain(242.5, fromL4), INT8: certain(242.5, fromL4),
			},
		},
		{
			Name: "L40S", Arch: "sm_89",
			SMs: certain(142, fromL40S), L2MB: uncertain(96.0, fromProperties), BoostMHz: certain(2520, fromL40S),
			MemoryGB: certain(48, fromL40S), BandwidthGBs: certain(864.0, fromL40S),
			TFLOPS: peaks{
				FP64: certain(1.43, fromArithmetic), FP32: certain(91.6, fromL40S), TF32: certain(183.0, fromL40S),
				FP16: certain(362.0, fromL40S), BF16: certain(362.0, fromL40S), FP8: certain(733.0, fromL40S), INT8: certain(733.0, fromL40S),
			},
		},
		{
			Name: "RTX 4090", Arch: "sm_89",
			SMs: certain(128, fromAda), L2MB: certain(72.0, fromAda), BoostMHz: uncertain(2520, fromAda),
			MemoryGB: certain(24, fromAda), BandwidthGBs: certain(1008.0, fromAda),
			TFLOPS: peaks{
				FP64: certain(1.29, fromArithmetic), FP32: certain(82.6, fromAda), TF32: certain(82.6, fromAda),
				FP16: certain(165.2, fromAda), BF16: certain(165.2, fromAda), FP8: certain(330.3, fromAda), INT8: certain(660.6, fromAda),
			},
			FP16AccumTFLOPS: peaks{FP16: certain(330.3, fromAda), FP8: certain(660.6, fromAda)},
		},
	}
}

func hopperAndBlackwell() []Card {
	hopper := func(from Source) peaks { // the H200 is an H100 with different memory
		return peaks{
			FP64: certain(67.0, from), FP32: certain(67.0, from), TF32: certain(494.7, from),
			FP16: certain(989.4, from), BF16: certain(989.4, from), FP8: certain(1979.0, from), INT8: certain(1979.0, from),
		}
	}
	return []Card{
		{
			Name: "H100 SXM", Arch: "sm_90", drivers: []string{"H100 80GB HBM3", "H100 SXM5"}, FP64Tensor: true,
			SMs: certain(132, fromHopper), L2MB: certain(50.0, fromProperties), BoostMHz: certain(1980, fromProperties),
			MemoryGB: certain(80, fromHopper), BandwidthGBs: certain(3350.0, fromHopper), TFLOPS: hopper(fromHopper),
		},
		{
			Name: "H100 PCIe", Arch: "sm_90", FP64Tensor: true,
			SMs: certain(114, fromHopper), L2MB: certain(50.0, fromHopper), BoostMHz: uncertain(1755, fromHopper),
			MemoryGB: certain(80, fromHopper), BandwidthGBs: certain(2000.0, fromHopper),
			TFLOPS: peaks{
				FP64: certain(51.0, fromHopper), FP32: certain(51.0, fromHopper), TF32: certain(378.0, fromHopper),
				FP16: certain(756.0, fromHopper), BF16: certain(756.0, fromHopper), FP8: certain(1513.0, fromHopper), INT8: certain(1513.0, fromHopper),
			},
		},
		{
			Name: "H200 SXM", Arch: "sm_90", drivers: []string{"H200"}, FP64Tensor: true,
			SMs: certain(132, fromH200), L2MB: uncertain(60.0, fromProperties), BoostMHz: certain(1980, fromProperties),
			MemoryGB: certain(141, fromH200), BandwidthGBs: certain(4800.0, fromH200), TFLOPS: hopper(fromH200),
		},
		{
			Name: "B200", Arch: "sm_100", FP64Tensor: true,
			SMs: certain(148, fromProperties), L2MB: certain(126.0, fromProperties),
			MemoryGB: uncertain(192, fromB200), BandwidthGBs: uncertain(8000.0, fromB200),
			TFLOPS: peaks{
				FP64: uncertain(40.0, fromB200), FP32: uncertain(80.0, fromB200), TF32: uncertain(1125.0, fromB200),
				FP16: certain(2250.0, fromB200), BF16: certain(2250.0, fromB200), FP8: certain(4500.0, fromB200),
				FP4: certain(9000.0, fromB200), INT8: certain(4500.0, fromB200),
			},
		},
		{
			Name: "RTX 5090", Arch: "sm_120",
			SMs: certain(170, fromRTX50), L2MB: certain(96.0, fromRTX50), BoostMHz: uncertain(2407, fromRTX50),
			MemoryGB: certain(32, fromRTX50), BandwidthGBs: certain(1792.0, fromRTX50),
			TFLOPS: peaks{
				FP64: certain(1.64, fromArithmetic), FP32: certain(104.8, fromRTX50), TF32: uncertain(104.8, fromRTX50),
				FP16: certain(209.5, fromRTX50), BF16: certain(209.5, fromRTX50), FP8: certain(419.0, fromRTX50),
				FP4: certain(1676.0, fromRTX50), INT8: uncertain(838.0, fromRTX50),
			},
			FP16AccumTFLOPS: peaks{FP16: certain(419.0, fromRTX50), FP8: certain(838.0, fromRTX50)},
		},
	}
}
