import ErrandHTTP
import ErrandSupport
import Synchronization

/// Caches an agent's last marks, because several filters ask for them, and most requests belong to one user. Comparing
/// equal sets is faster if one is a copy of the other.
final class LastMarks: Sendable {
    /// The last marks. A class, so copying them out of the lock costs one retain.
    private final class Known: Sendable {
        let secrets: HTTPHeaders.Secrets
        let declared: UserMarks?
        let marks: Set<UserMark>

        init(_ headers: HTTPHeaders, _ declared: UserMarks?) {
            (secrets, self.declared) = (headers.secrets, declared)
            let implied = UserMarks.implied(by: headers, besides: declared)
            marks = declared.map { implied.union($0.marks) } ?? implied
        }
    }

    private let last = Mutex<Known?>(nil)
    /// The last type of request that doesn't declare owners.
    let ownerless = PlainType()

    func marks(_ headers: HTTPHeaders, _ declared: UserMarks?) -> Set<UserMark> {
        let known = last.withLock { $0 }
        if let known, headers.haveSecrets(equalTo: known.secrets), known.declared == declared { return known.marks }
        let new = Known(headers, declared)
        last.withLock { $0 = new }
        return withExtendedLifetime(known) { new.marks }
    }
}
