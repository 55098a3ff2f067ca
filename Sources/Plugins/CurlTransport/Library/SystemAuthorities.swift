#if os(Linux) || os(Android)
import CErrandCurl
import ErrandSupport

/// Where a libcurl finds the authorities that the system trusts.
enum SystemAuthorities: Equatable {
    /// Where it looks by itself.
    case builtIn
    /// A PEM file.
    case file(String)
    /// A directory of certificates, each under the hash of its subject.
    case directory(String)

    /// Of Android: first those that updates of the system's modules bring, from Android 14 on.
    static let directories = ["/apex/com.android.conscrypt/cacerts", "/system/etc/security/cacerts"]
    /// Of Debian, Fedora, openSUSE and Alpine.
    static let files = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
        "/etc/ssl/cert.pem",
    ]

    /// A directory of Android's before the places that libcurl was built with; those before the files of distributions, which
    /// count where none of them exists, as for a libcurl that was built for another distribution or without any.
    static func choose(builtIn: [String], exists: (String) -> Bool) -> Self {
        if let directory = directories.first(where: exists) { return .directory(directory) }
        if builtIn.contains(where: exists) { return .builtIn }
        return files.first(where: exists).map(Self.file) ?? .builtIn
    }

    /// Those of this system, for the libcurl that is loaded.
    static func ofSystem() -> Self {
        let builtIn = [errand_curl_authorities_file(), errand_curl_authorities_directory()]
        return choose(builtIn: builtIn.compactMap { $0.map { String(cString: $0) } }) { access($0, R_OK) == 0 }
    }
}
#endif
