// A program that uses Core and the libcurl transport, for Tests/Linkage/static. Prints the body of a GET. Reads the
// URL and the transport's options from the environment, because arguments are read from /proc.
import Errand
import ErrandCurlTransport
import ErrandEssentials

#if !canImport(Darwin)
let environment = ProcessInfo.processInfo.environment
var configuration = CurlConfiguration()
configuration.dnsOverHTTPS = environment["ERRAND_FETCH_NAMES"].flatMap { URL(string: $0) }
if let file = environment["ERRAND_FETCH_ROOTS"] { configuration.tls.roots = .file(URL(filePath: file)) }
let agent = NetworkAgent(baseURL: "https://localhost", transport: .curl(configuration))
let url = environment["ERRAND_FETCH_URL"] ?? ""
do { print(try await agent.send(Call<String>(.get, url)).value) } catch { print(error) }
#endif
