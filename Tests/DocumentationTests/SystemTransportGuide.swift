// The code of docs/system-transport.md.
import Errand
import ErrandSystemTransport

#if !canImport(Darwin)
import ErrandCurlTransport
#else
import ErrandURLSessionTransport
import Foundation
#endif

private func makeTransport() -> SystemTransport {
    #if !canImport(Darwin)
    var configuration = CurlConfiguration()
    configuration.addressFamily = .v4
    return .curl(configuration)
    #else
    let configuration = URLSessionTransport.standardConfiguration
    configuration.httpMaximumConnectionsPerHost = 6
    return .urlSession(configuration)
    #endif
}
