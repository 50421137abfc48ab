/* cxxmodel.cc - a model in C++ without outputs that wants one float32 input, with what real ones do in aoti_runtime: std::regex reads the device's
 * name, and a wrong dtype is an exception, whose text is printed. For libraries with libstdc++ inside (tests/cli/static-cxx.t). */
#include <cstdint>
#include <iostream>
#include <regex>
#include <sstream>

extern "C" {
int32_t aoti_torch_get_dtype(void *, int32_t *);
int32_t aoti_torch_get_dim(void *, int64_t *);

/* aoti_runtime/interface.cpp */
#define CATCH(...) \
	try { \
		__VA_ARGS__ \
	} catch (const std::exception &e) { \
		std::cerr << "Error: " << e.what() << std::endl; \
		return 1; \
	} \
	return 0;

static int model;
int32_t AOTInductorModelContainerCreateWithDevice(void **c, size_t, const char *device, const char *)
{
	CATCH(std::smatch m; std::string s(device);
	      if (!std::regex_match(s, m, std::regex("(cpu|cuda)(:([0-9]+))?"))) throw std::runtime_error("Invalid device: " + s);
	      *c = &model;)
}
int32_t AOTInductorModelContainerGetNumInputs(void *, size_t *n) { return *n = 1, 0; }
int32_t AOTInductorModelContainerGetNumOutputs(void *, size_t *n) { return *n = 0, 0; }
int32_t AOTInductorModelContainerGetInputName(void *, size_t, const char **name) { return *name = "arg0_1", 0; }
int32_t AOTInductorModelContainerDelete(void *) { return 0; }
int32_t AOTInductorModelContainerRun(void *, void **in, size_t, void **, size_t, void *, void *)
{
	CATCH(int32_t dtype = 0; aoti_torch_get_dtype(in[0], &dtype); if (dtype != 6) {
		std::stringstream ss;
		ss << "input_handles[0]: unmatched dtype, expected: " << 6 << "(at::kFloat), but got: " << dtype << "\n";
		throw std::runtime_error(ss.str());
	})
}
}
