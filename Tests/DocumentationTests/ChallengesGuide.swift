// The code for challenges in docs/urlsession-transport.md. It compiles only on Apple's platforms.
#if canImport(Security)
import Errand
import ErrandURLSessionTransport
import Foundation

private func transport(_ pinInUse: String, _ nextPin: String) throws -> URLSessionTransport {
    let identities: URLSessionIdentities = ["https://api.example.com": try ClientCertificate(keychainLabel: "device")]
    let transport: URLSessionTransport = .urlSession(
        trust: ServerTrust(publicKeyPins: ["api.example.com": [pinInUse, nextPin]]), identities: identities,
        challenges: { challenge in
            challenge.previousFailureCount < 3 ? .standard : .refuse("the server has refused three times")
        })
    return transport
}

private func renew(_ identities: URLSessionIdentities, _ renewed: Data, _ password: String) throws {
    identities["https://api.example.com"] = try ClientCertificate(pkcs12: renewed, password: password)
}
#endif
