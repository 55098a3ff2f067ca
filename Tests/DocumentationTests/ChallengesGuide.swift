// The code for challenges in docs/urlsession-transport.md. It compiles only on Apple's platforms.
#if canImport(Security)
import ErrandURLSessionTransport
import Foundation
import Security

private func transport(_ identity: SecIdentity, _ pinInUse: String, _ nextPin: String) -> URLSessionTransport {
    let transport: URLSessionTransport = .urlSession(
        trust: ServerTrust(publicKeyPins: ["api.example.com": [pinInUse, nextPin]]),
        clientCertificate: ClientCertificate(identity, hosts: ["api.example.com"]),
        challenges: { challenge in
            challenge.previousFailureCount < 3 ? .standard : .refuse("the server has refused three times")
        })
    return transport
}
#endif
