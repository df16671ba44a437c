/* Tensor maps: what a kernel that copies tiles by TMA takes instead of a pointer. The driver makes them of the tensor's type,
   sizes and strides, anew when the tensor has moved. */

enum { MAP_BYTES = 128, MAP_ALIGN = 64, MOST_MAP_RANK = 5, MAP_CAPABILITY = 9, MAP_L2_128_BYTES = 2 };

/* A type as the driver numbers it; those of one byte are bytes. */
static int map_type(dtype type) {
  switch (type) {
  case F64: return 8;
  case F32: return 7;
  case TF32: return 11;
  case F16: return 6;
  case BF16: return 9;
  case I64: return 5;
  case I32: return 3;
  case I16: return 1;
  default: return 0;
  }
}

static void check_maps(void) {
  int i, major = 0;
  for (i = 0; i < arguments.count; i++) {
    const argument *const a = &arguments.all[i];
    if (!a->mapped) continue;
    if (!cu.encode_map) pawl_fail_as("unsupported", "%s is a tensor map, which needs a driver of CUDA 12.0 or newer", a->name);
    must(cu.device_attribute(&major, ATTRIBUTE_MAJOR, device.number), "asking for the compute capability");
    if (major < MAP_CAPABILITY) pawl_fail_as("unsupported", "%s is a tensor map, which needs a device of compute capability 9.0 or newer", a->name);
    if (a->rank > MOST_MAP_RANK) pawl_fail_as("bad_params", "%s has %d dimensions, and a tensor map at most %d", a->name, a->rank, MOST_MAP_RANK);
  }
}

/* The driver wants the innermost dimension first, and no stride for it. */
static void encode_map(const argument *a, address at, void *to) {
  uint64_t sizes[MOST_MAP_RANK], strides[MOST_MAP_RANK];
  uint32_t box[MOST_MAP_RANK], steps[MOST_MAP_RANK];
  char doing[256];
  int i;
  for (i = 0; i < a->rank; i++) {
    const int k = a->rank - 1 - i;
    sizes[i] = (uint64_t)a->shape[k];
    box[i] = a->box[k] < UINT32_MAX ? (uint32_t)a->box[k] : UINT32_MAX;
    steps[i] = 1;
    if (i) strides[i - 1] = (uint64_t)a->strides[k] * dtypes[a->type].size;
  }
  snprintf(doing, sizeof doing, "making the tensor map of %s (its box, swizzle, sizes and strides)", a->name);
  const int swizzle = a->swizzle == 128 ? 3 : (int)(a->swizzle / 32);
  must(cu.encode_map(to, map_type(a->type), (uint32_t)a->rank, (void *)(uintptr_t)at, sizes, strides, box, steps, 0, swizzle, MAP_L2_128_BYTES, 0), doing);
}

/* Makes the maps of runs whose tensors have moved; in is the address of which view is the map. */
static void make_maps(set *const *of, int count) {
  int i, k;
  for (k = 0; k < count; k++)
    for (i = 0; i < arguments.count; i++) {
      slot *const s = &of[k]->slots[i];
      const address at = s->m.from + s->window;
      if (!arguments.all[i].mapped || (s->m.view && (address)(uintptr_t)s->m.in == at)) continue;
      if (!s->m.view && !(s->m.view = aligned_alloc(MAP_ALIGN, MAP_BYTES))) pawl_fail_as("no_memory", "no memory for a tensor map");
      encode_map(&arguments.all[i], at, s->m.view);
      s->m.in = (void *)(uintptr_t)at;
    }
}
