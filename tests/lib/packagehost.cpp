/* packagehost.cpp - a program that loads a package as torch does, for tests of the probe (libprobe/loader.c): with real std::string, of either ABI.
 *
 *     c++ -D_GLIBCXX_USE_CXX11_ABI=N -DLIBRARY -shared: torch's constructor, which loads $TORCH and the model $MODEL; as in torch 2.6 (N = 0) or 2.13 (1)
 *     c++ -D_GLIBCXX_USE_CXX11_ABI=N: the program: packagehost PACKAGE [NAME]
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <exception>
#include <string>

namespace torch
{
namespace inductor
{
struct AOTIModelPackageLoader {
#if _GLIBCXX_USE_CXX11_ABI
	AOTIModelPackageLoader(const std::string &package, const std::string &name, bool single, size_t runners, int8_t device);
#else
	AOTIModelPackageLoader(const std::string &package, const std::string &name);
#endif
	void *model;
};
} // namespace inductor
} // namespace torch

#ifdef LIBRARY
#if _GLIBCXX_USE_CXX11_ABI
torch::inductor::AOTIModelPackageLoader::AOTIModelPackageLoader(const std::string &package, const std::string &name, bool single,
								size_t runners, int8_t device)
{
	std::printf("%s %s %d %zu %d\n", package.c_str(), name.c_str(), single, runners, device);
#else
torch::inductor::AOTIModelPackageLoader::AOTIModelPackageLoader(const std::string &package, const std::string &name)
{
	std::printf("%s %s\n", package.c_str(), name.c_str());
#endif
	dlopen(std::getenv("TORCH"), RTLD_NOW | RTLD_LOCAL);
	model = dlopen(std::getenv("MODEL"), RTLD_NOW | RTLD_LOCAL);
	if (!model)
		std::printf("%s\n", dlerror());
}
#else
int main(int argc, char **argv)
{
	const std::string package = argc > 1 ? argv[1] : "", name = argc > 2 ? argv[2] : "model";
	try {
#if _GLIBCXX_USE_CXX11_ABI
		torch::inductor::AOTIModelPackageLoader loaded(package, name, true, 3, -1);
#else
		torch::inductor::AOTIModelPackageLoader loaded(package, name);
#endif
		std::printf(loaded.model ? "loaded\n" : "not loaded\n");
	} catch (const std::exception &e) {
		std::printf("caught: %s\n", e.what());
	}
}
#endif
