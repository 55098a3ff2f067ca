// The code of docs/curl-transport.md, and of the certificate pins in docs/recipes.md.
#if os(Linux)
import Errand
import ErrandCurlTransport
import ErrandEssentials

private func withHTTP3() {
    var configuration = CurlConfiguration()
    configuration.httpVersion = .http3
    configuration.alternativeServicesFile = URL(fileURLWithPath: "/var/lib/example/alternatives")
    let agent = NetworkAgent(baseURL: "https://api.example.com", transport: .curl(configuration))
    _ = agent
}

private func pinning(pinInUse: String, nextPin: String) {
    var configuration = CurlConfiguration()
    configuration.tls.publicKeyPins["api.example.com"] = [pinInUse, nextPin]
    let pinned = NetworkAgent(baseURL: "https://api.example.com", transport: .curl(configuration))
    _ = pinned
}

private func identified(file: URL, password: String) {
    var configuration = CurlConfiguration()
    let identities: CurlIdentities = ["https://api.example.com": .pkcs12(file: file, password: password)]
    configuration.tls.identities = identities
    _ = configuration
}

private func simple() {
    let agent = NetworkAgent(baseURL: "https://api.example.com/v1", transport: .curl)
    _ = agent
}

private func configured() {
    var configuration = CurlConfiguration()
    configuration.maximumConnectionsPerHost = 6
    configuration.tls.roots = .file(URL(filePath: "/etc/example/ca.pem"))
    let agent = NetworkAgent(baseURL: "https://api.example.com/v1", transport: .curl(configuration))
    _ = agent
}
#elseif canImport(Darwin)
import Errand
import ErrandURLSessionTransport

private func pinning(pinInUse: String, nextPin: String) {
    let trust = ServerTrust(publicKeyPins: ["api.example.com": [pinInUse, nextPin]])
    let pinned = NetworkAgent(baseURL: "https://api.example.com", transport: .urlSession(trust: trust))
    _ = pinned
}
#endif
