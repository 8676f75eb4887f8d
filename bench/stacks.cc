// SPDX-License-Identifier: MIT
// What the compiler, which is recorded for its deep stacks, compiles.
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <regex>
#include <string>
#include <unordered_map>
#include <vector>

int main()
{
	std::map<std::string, std::vector<int>> m;
	std::unordered_map<std::string, std::function<int(int)>> f;
	std::regex r("(a|b)+");

	f["x"] = [&](int i) { return std::regex_match(std::to_string(i), r) + static_cast<int>(m.size()); };
	for (auto &p : m)
		std::sort(p.second.begin(), p.second.end(), std::greater<int>());
	std::cout << f["x"](3) << "\n";
	return 0;
}
