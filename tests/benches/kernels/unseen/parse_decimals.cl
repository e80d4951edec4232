// Decimal numbers of a text column to f64; the twin of parse_decimals.k.
#include "k.h"
constant double POWERS[23] = {
  1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
  1e21, 1e22,
};
static bool is_digit(uchar c) { return c >= 0x30 && c <= 0x39; }
static int least(int a, int b) { return a < b ? a : b; }
static double scale(double v, int exponent) {
  if (exponent < 0) {
    exponent = least(-exponent, 400);
    while (exponent > 22) {
      v /= 1e22;
      exponent -= 22;
    }
    return v / POWERS[exponent];
  }
  exponent = least(exponent, 400);
  while (exponent > 22) {
    v *= 1e22;
    exponent -= 22;
  }
  return v * POWERS[exponent];
}
kernel WG(64,1,1) void parse_decimals(global const uchar *restrict text, global const uint *restrict offsets,
                                      global double *restrict values, global uchar *restrict status, uint count) {
  uint i = WGX * 64 + TX;
  if (i >= count) return;
  uint at = offsets[i], end = offsets[i + 1];
  bool negative = false;
  if (at < end && (text[at] == 0x2d || text[at] == 0x2b)) {
    negative = text[at] == 0x2d;
    at++;
  }
  ulong mantissa = 0;
  int exponent = 0;
  uint kept = 0, digits = 0;
  bool point = false;
  while (at < end) {
    uchar c = text[at];
    if (c == 0x2e && !point) {
      point = true;
    } else if (is_digit(c)) {
      digits++;
      if (kept < 19) {
        mantissa = mantissa * 10 + (uchar)(c - 0x30);
        kept += mantissa != 0;
        exponent -= point;
      } else {
        exponent += !point;
      }
    } else {
      break;
    }
    at++;
  }
  bool valid = digits > 0;
  if (valid && at < end && (text[at] | 0x20) == 0x65) {
    at++;
    bool down = false;
    if (at < end && (text[at] == 0x2d || text[at] == 0x2b)) {
      down = text[at] == 0x2d;
      at++;
    }
    valid = at < end;
    int e = 0;
    while (at < end && is_digit(text[at])) {
      e = least(e * 10 + (text[at] - 0x30), 100000);
      at++;
    }
    exponent += down ? -e : e;
  }
  valid = valid && at == end;
  double v = mantissa == 0 ? 0.0 : scale((double)mantissa, exponent);
  values[i] = !valid ? 0.0 : negative ? -v : v;
  status[i] = !valid;
}
