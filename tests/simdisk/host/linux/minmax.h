/* SPDX-License-Identifier: GPL-2.0 */
#define min(a, b) ({ __auto_type _a = (a); __auto_type _b = (b); _a < _b ? _a : _b; })
#define max(a, b) ({ __auto_type _c = (a); __auto_type _d = (b); _c > _d ? _c : _d; })
#define min_t(type, a, b) min((type)(a), (type)(b))
