/* ---- memory ---- */

void *vgpu_alloc(size_t bytes) {
  const size_t size = (bytes + LINE - 1) / LINE * LINE;
  char *at = NULL;
  if (!bytes || size < bytes || (double)(vgpu.now->allocated + size) > vgpu.now->memory_bytes) return NULL;
  if (vgpu.block_count == vgpu.block_room) {
    vgpu.block_room = vgpu.block_room ? 2 * vgpu.block_room : 64;
    vgpu.blocks = realloc(vgpu.blocks, (size_t)vgpu.block_room * sizeof *vgpu.blocks);
  }
  if (!vgpu.blocks || !(at = aligned_alloc(LINE, size))) return NULL;
  vgpu.blocks[vgpu.block_count].at = at;
  vgpu.blocks[vgpu.block_count++].bytes = bytes;
  vgpu.now->allocated += size;
  enter(vgpu.now, (double)size);
  return at;
}

static int find_block(const void *memory) {
  int i;
  for (i = 0; i < vgpu.block_count; i++)
    if ((const char *)memory >= vgpu.blocks[i].at && (const char *)memory < vgpu.blocks[i].at + vgpu.blocks[i].bytes) return i;
  return -1;
}

int vgpu_free(void *memory) {
  int i;
  vgpu_wait();
  if (!memory) return 0;
  i = find_block(memory);
  if (i < 0 || vgpu.blocks[i].at != memory) return VGPU_INVALID;
  vgpu.now->allocated -= (vgpu.blocks[i].bytes + LINE - 1) / LINE * LINE;
  enter(vgpu.now, -(double)((vgpu.blocks[i].bytes + LINE - 1) / LINE * LINE));
  free(memory);
  vgpu.blocks[i] = vgpu.blocks[--vgpu.block_count];
  return 0;
}

void vgpu_free_all(void) {
  vgpu_wait();
  while (vgpu.block_count) free(vgpu.blocks[--vgpu.block_count].at);
  enter(vgpu.now, -(double)vgpu.now->allocated);
  vgpu.now->allocated = 0;
}

size_t vgpu_rest(const void *memory) {
  const int i = find_block(memory);
  return i < 0 ? 0 : (size_t)(vgpu.blocks[i].at + vgpu.blocks[i].bytes - (const char *)memory);
}

void vgpu_copy(void *to, const void *from, size_t bytes) {
  const int in = vgpu_rest(to) > 0, out = vgpu_rest(from) > 0;
  vgpu_wait();
  vgpu_trace(!in ? "out" : out ? "within" : "in", "copy", (double)bytes);
  memset(&kernel, 0, sizeof kernel);
  if (out) vgpu_read(from, bytes);
  if (in) vgpu_write(to, bytes);
  memmove(to, from, bytes);
  vgpu.host_ns += COPY_NS + (in && out ? 0 : (double)bytes * vgpu.scale / LINK_GBPS);
}

