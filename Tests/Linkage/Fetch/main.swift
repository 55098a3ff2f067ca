// A program of Core and the transport over libcurl, for Tests/Linkage/static: prints the body of a GET. The URL is in its
// environment, since arguments are read from /proc.
import Errand
import ErrandCurlTransport
import ErrandEssentials

#if !canImport(Darwin)
let agent = NetworkAgent(baseURL: "https://localhost", transport: .curl)
let url = ProcessInfo.processInfo.environment["ERRAND_FETCH_URL"] ?? ""
print(try await agent.send(Call<String>(.get, url)).value)
#endif
