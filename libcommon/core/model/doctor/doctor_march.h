/* Made by scripts/gen-marches of gcc 12.2.0; do not edit. Names of -march=, and the sets of ISAS (doctor.h) that they allow. */
static const struct march {
	const char *names, *sets;
} marches[] = {
    {"nocona eden-x2 k8-sse3 opteron-sse3 athlon64-sse3",
     "sse3"},
    {"core2 nano nano-1000 nano-2000",
     "sse3 ssse3"},
    {"nehalem corei7 westmere x86-64-v2",
     "sse3 ssse3 sse4.1 sse4.2 popcnt"},
    {"sandybridge corei7-avx",
     "sse3 ssse3 sse4.1 sse4.2 popcnt avx"},
    {"ivybridge core-avx-i",
     "sse3 ssse3 sse4.1 sse4.2 popcnt avx f16c"},
    {"haswell core-avx2 broadwell skylake x86-64-v3 bdver4 znver1 znver2 yongfeng shijidadao",
     "sse3 ssse3 sse4.1 sse4.2 popcnt movbe lzcnt bmi bmi2 avx f16c fma avx2"},
    {"skylake-avx512 x86-64-v4",
     "sse3 ssse3 sse4.1 sse4.2 popcnt movbe lzcnt bmi bmi2 avx f16c fma avx2 avx512f avx512dq avx512cd avx512bw "
     "avx512vl"},
    {"cannonlake",
     "sse3 ssse3 sse4.1 sse4.2 popcnt movbe lzcnt bmi bmi2 avx f16c fma avx2 avx512f avx512dq avx512ifma avx512cd "
     "avx512bw avx512vl avx512vbmi"},
    {"icelake-client rocketlake icelake-server tigerlake",
     "sse3 ssse3 sse4.1 sse4.2 popcnt movbe lzcnt bmi bmi2 avx f16c fma avx2 gfni vaes avx512f avx512dq avx512ifma "
     "avx512cd avx512bw avx512vl avx512vbmi avx512vbmi2 avx512vnni avx512bitalg avx512vpopcntdq"},
    {"cascadelake",
     "sse3 ssse3 sse4.1 sse4.2 popcnt movbe lzcnt bmi bmi2 avx f16c fma avx2 avx512f avx512dq avx512cd avx512bw "
     "avx512vl avx512vnni"},
    {"cooperlake",
     "sse3 ssse3 sse4.1 sse4.2 popcnt movbe lzcnt bmi bmi2 avx f16c fma avx2 avx512f avx512dq avx512cd avx512bw "
     "avx512vl avx512vnni avx512bf16"},
    {"sapphirerapids emeraldrapids",
     "sse3 ssse3 sse4.1 sse4.2 popcnt movbe lzcnt bmi bmi2 avx f16c fma avx2 gfni vaes avxvnni avx512f avx512dq "
     "avx512ifma avx512cd avx512bw avx512vl avx512vbmi avx512vbmi2 avx512vnni avx512bitalg avx512vpopcntdq avx512bf16 "
     "avx512fp16 amx-tile amx-bf16 amx-int8"},
    {"alderlake raptorlake meteorlake gracemont",
     "sse3 ssse3 sse4.1 sse4.2 popcnt movbe lzcnt bmi bmi2 avx f16c fma avx2 gfni vaes avxvnni"},
    {"bonnell atom",
     "sse3 ssse3 movbe"},
    {"silvermont slm goldmont goldmont-plus",
     "sse3 ssse3 sse4.1 sse4.2 popcnt movbe"},
    {"tremont",
     "sse3 ssse3 sse4.1 sse4.2 popcnt movbe gfni"},
    {"knl",
     "sse3 ssse3 sse4.1 sse4.2 popcnt movbe lzcnt bmi bmi2 avx f16c fma avx2 avx512f avx512cd"},
    {"knm",
     "sse3 ssse3 sse4.1 sse4.2 popcnt movbe lzcnt bmi bmi2 avx f16c fma avx2 avx512f avx512cd avx512vpopcntdq"},
    {"x86-64 k8 opteron athlon64 athlon-fx",
     ""},
    {"nano-3000 nano-x2 eden-x4 nano-x4",
     "sse3 ssse3 sse4.1"},
    {"amdfam10 barcelona",
     "sse3 popcnt lzcnt"},
    {"bdver1",
     "sse3 ssse3 sse4.1 sse4.2 popcnt lzcnt avx"},
    {"bdver2 bdver3",
     "sse3 ssse3 sse4.1 sse4.2 popcnt lzcnt bmi avx f16c fma"},
    {"znver3",
     "sse3 ssse3 sse4.1 sse4.2 popcnt movbe lzcnt bmi bmi2 avx f16c fma avx2 vaes"},
    {"btver1",
     "sse3 ssse3 popcnt lzcnt"},
    {"btver2",
     "sse3 ssse3 sse4.1 sse4.2 popcnt movbe lzcnt bmi avx f16c"},
    {"graniterapids",
     "sse3 ssse3 sse4.1 sse4.2 popcnt movbe lzcnt bmi bmi2 avx f16c fma avx2 gfni vaes avxvnni avx512f avx512dq "
     "avx512ifma avx512cd avx512bw avx512vl avx512vbmi avx512vbmi2 avx512vnni avx512bitalg avx512vpopcntdq avx512bf16 "
     "avx512fp16 amx-tile amx-bf16 amx-int8 amx-fp16"},
    {"sierraforest grandridge arrowlake",
     "sse3 ssse3 sse4.1 sse4.2 popcnt movbe lzcnt bmi bmi2 avx f16c fma avx2 gfni vaes avxvnni avxifma avxvnniint8 "
     "avxneconvert"},
    {"znver4",
     "sse3 ssse3 sse4.1 sse4.2 popcnt movbe lzcnt bmi bmi2 avx f16c fma avx2 gfni vaes avx512f avx512dq avx512ifma "
     "avx512cd avx512bw avx512vl avx512vbmi avx512vbmi2 avx512vnni avx512bitalg avx512vpopcntdq avx512bf16"},
    {"lujiazui",
     "sse3 ssse3 sse4.1 sse4.2 popcnt movbe lzcnt bmi bmi2"},
    {"arrowlake-s lunarlake pantherlake clearwaterforest wildcatlake",
     "sse3 ssse3 sse4.1 sse4.2 popcnt movbe lzcnt bmi bmi2 avx f16c fma avx2 gfni vaes avxvnni avxifma avxvnniint8 "
     "avxvnniint16 avxneconvert"},
    {"graniterapids-d",
     "sse3 ssse3 sse4.1 sse4.2 popcnt movbe lzcnt bmi bmi2 avx f16c fma avx2 gfni vaes avxvnni avx512f avx512dq "
     "avx512ifma avx512cd avx512bw avx512vl avx512vbmi avx512vbmi2 avx512vnni avx512bitalg avx512vpopcntdq avx512bf16 "
     "avx512fp16 amx-tile amx-bf16 amx-int8 amx-fp16 amx-complex"},
    {"znver5",
     "sse3 ssse3 sse4.1 sse4.2 popcnt movbe lzcnt bmi bmi2 avx f16c fma avx2 gfni vaes avxvnni avx512f avx512dq "
     "avx512ifma avx512cd avx512bw avx512vl avx512vbmi avx512vbmi2 avx512vnni avx512bitalg avx512vpopcntdq avx512bf16"},
    {"diamondrapids",
     "sse3 ssse3 sse4.1 sse4.2 popcnt movbe lzcnt bmi bmi2 avx f16c fma avx2 gfni vaes avxvnni avx512f avx512dq "
     "avx512ifma avx512cd avx512bw avx512vl avx512vbmi avx512vbmi2 avx512vnni avx512bitalg avx512vpopcntdq avx512bf16 "
     "avx512fp16 amx-tile amx-bf16 amx-int8 amx-fp16 amx-complex avxifma avxvnniint8 avxvnniint16 avxneconvert apxf"},
    {"novalake",
     "sse3 ssse3 sse4.1 sse4.2 popcnt movbe lzcnt bmi bmi2 avx f16c fma avx2 gfni vaes avxvnni avx512f avx512dq "
     "avx512ifma avx512cd avx512bw avx512vl avx512vbmi avx512vbmi2 avx512vnni avx512bitalg avx512vpopcntdq avx512bf16 "
     "avx512fp16 avxifma avxvnniint8 avxvnniint16 avxneconvert apxf"},
    {"znver6",
     "sse3 ssse3 sse4.1 sse4.2 popcnt movbe lzcnt bmi bmi2 avx f16c fma avx2 gfni vaes avxvnni avx512f avx512dq "
     "avx512ifma avx512cd avx512bw avx512vl avx512vbmi avx512vbmi2 avx512vnni avx512bitalg avx512vpopcntdq avx512bf16 "
     "avx512fp16 avxifma avxvnniint8 avxneconvert"},
};
