// Random fills. Element e of a matrix depends on the seed and e alone; tessera/random.hpp is the definition, and has
// the bits. Z is the stored type, REAL the one that is computed in. Source: Philox4x32-10 of Salmon, Moraes, Dror and
// Shaw: "Parallel random numbers: as easy as 1, 2, 3" (SC11).
#pragma OPENCL FP_CONTRACT OFF

#if REAL_IS_DOUBLE
#define SLOTS 2
#else
#define SLOTS 4
#endif

// Bits of a stored number: its sign, its bits, and the format's largest exponent and stored digits.
#define SIGN_BIT ((BITS)1 << (8 * sizeof(BITS) - 1))

static inline uint4 philox(const ulong seed, const uint4 counter) {
  uint key0 = (uint)seed, key1 = (uint)(seed >> 32);
  uint4 x = counter;
  for (int round = 0; round < 10; ++round) {
    const ulong product0 = 0xD2511F53ul * x.x, product1 = 0xCD9E8D57ul * x.z;
    x = (uint4)((uint)(product1 >> 32) ^ x.y ^ key0, (uint)product1, (uint)(product0 >> 32) ^ x.w ^ key1,
                (uint)product0);
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return x;
}
static inline uint4 block_of(const ulong seed, const ulong counter, const uint stream) {
  return philox(seed, (uint4)((uint)counter, (uint)(counter >> 32), stream, 0));
}
static inline uint word(const uint4 block, const int i) {
  return i == 0 ? block.x : i == 1 ? block.y : i == 2 ? block.z : block.w;
}

static inline REAL unit_uniform(const uint4 block, const int slot) {
#if REAL_IS_DOUBLE
  const ulong bits = (ulong)word(block, 2 * slot) << 32 | word(block, 2 * slot + 1);
  return (double)(bits >> 11) * 0x1p-53;
#else
  return (float)(word(block, slot) >> 8) * 0x1p-24f;
#endif
}

static inline Z compose(const bool negative, const int exponent, const ulong fraction) {
  const BITS bits = (negative ? SIGN_BIT : (BITS)0) | (BITS)((BITS)(exponent + LARGEST) << FRACTION) |
                    (BITS)(fraction >> (64 - FRACTION));
  return AS_STORED(bits);
}

static inline Z neighbour(const Z x, const bool above) {
  BITS bits = AS_BITS(x);
  const bool negative = (bits & SIGN_BIT) != 0;
  if ((BITS)(bits & (BITS)~SIGN_BIT) == 0)
    bits = above ? (BITS)1 : (BITS)(SIGN_BIT | 1); // the smallest subnormal number
  else
    bits = (BITS)(negative == above ? bits - 1 : bits + 1);
  return AS_STORED(bits);
}

static inline Z round_within(const REAL x, const REAL low, const REAL high, const bool with_high) {
  const Z rounded = STORE_Z(x);
  const REAL value = LOAD_Z(rounded);
  if (with_high ? value > high : value >= high) return neighbour(rounded, false);
  return value < low ? neighbour(rounded, true) : rounded;
}

static inline Z uniform_between(const REAL unit, const REAL low, const REAL high) {
  if (!(low < high)) return STORE_Z(low);
  const REAL difference = high - low;
  REAL x = fma(unit, difference, low);
  if (isinf(difference)) x = 2 * fma(unit, high * (REAL)0.5 - low * (REAL)0.5, low * (REAL)0.5);
  if (x > high) x = high;
  return round_within(x, low, high, false);
}

#ifdef HAS_F64
static inline Z normal(const ulong seed, const ulong e, const REAL mean, const REAL deviation) {
  ulong sum = 0;
  for (uint part = 1; part <= 3; ++part) {
    const uint4 block = block_of(seed, e, part);
    sum += (ulong)block.x + block.y + block.z + block.w;
  }
  const double deviate = (double)sum * 0x1p-32 - 6.0;
  return STORE_Z((REAL)fma(deviate, (double)deviation, (double)mean));
}

static inline Z special(const uint4 block, const REAL exceptional, const REAL extreme) {
  const double pick = block.x * 0x1p-32;
  const uint kind = block.y & 7;
  const bool negative = (block.y >> 3 & 1) != 0;
  const ulong fraction = (ulong)block.z << 32 | block.w;
  if (pick < (double)exceptional) return compose(negative && kind >= 4, LARGEST + 1, kind >= 4 ? 0 : 1ul << 63);
  if (pick >= (double)exceptional + (double)extreme)
    return STORE_Z(fma(unit_uniform(block, REAL_IS_DOUBLE ? 1 : 2), (REAL)2, (REAL)-1));
  switch (kind) {
    case 0:
    case 1:
      return compose(negative, -LARGEST, 0); // zero
    case 2:
      return compose(negative, -LARGEST, 1ul << (64 - FRACTION)); // the smallest subnormal
    case 3:
      return compose(negative, -LARGEST, fraction); // any subnormal
    case 4:
      return compose(negative, 1 - LARGEST, 0); // the smallest normal
    case 5:
      return compose(negative, -LARGEST * 3 / 4, fraction); // its square vanishes
    case 6:
      return compose(negative, LARGEST * 3 / 4, fraction); // its square overflows
    default:
      return compose(negative, LARGEST, ~0ul); // the largest
  }
}
#endif

static inline Z random_element(const int distribution, const ulong seed, const ulong e, const REAL low,
                               const REAL high) {
#ifdef HAS_F64
  if (distribution == 1) return normal(seed, e, low, high);
  if (distribution == 4) return special(block_of(seed, e, 5), low, high);
#endif
  if (distribution == 3) { // wide
    const uint4 block = block_of(seed, e, 4);
    const ulong count = (ulong)(high - low) + 1;
    const int exponent = (int)low + (int)(block.x * count >> 32);
    return compose((block.y & 1) != 0, exponent, (ulong)block.z << 32 | block.w);
  }
  const uint4 block = block_of(seed, e / SLOTS, 0);
  const int slot = (int)(e % SLOTS);
  if (distribution == 2) { // whole numbers
    const ulong count = (ulong)(high - low) + 1;
    const REAL drawn = low + (REAL)(word(block, slot) * count >> 32);
    return round_within(drawn > high ? high : drawn, low, high, true);
  }
  return uniform_between(unit_uniform(block, slot), low, high);
}

__kernel void random_fill(const long rows, const long cols, const int distribution, const ulong seed, const REAL low,
                          const REAL high, __global Z* z, const long z_at, const long ldz) {
  const long j = get_global_id(0);
  if (j >= cols) return;
  for (long i = get_global_id(1); i < rows; i += get_global_size(1))
    z[z_at + i * ldz + j] = random_element(distribution, seed, (ulong)(i * cols + j), low, high);
}
