import ErrandAppModels
import SwiftUI

/// The sign-in form, or the user who is signed in.
struct AccountView: View {
    @Bindable var model: AccountModel
    /// Expires the token at the server.
    let expireToken: @MainActor () -> Void

    var body: some View {
        Form {
            FailureText(text: model.failure)
            if model.isSignedIn {
                Text("Signed in as \(model.name ?? "…")")
                Text("Tokens that were refused and refreshed: \(model.refusals)")
                Button("Ask the server who I am") { Task { await model.load() } }
                Button("Let the token expire", action: expireToken)
                Button("Sign out", role: .destructive) { model.signOut() }
            } else {
                TextField("Name", text: $model.user).autocorrectionDisabled()
                SecureField("Password, which is secret", text: $model.password)
                Button("Sign in") { Task { await model.signIn() } }
            }
        }
        .disabled(model.isBusy)
        .navigationTitle("Account")
    }
}
