/// The version of Bookplate. Every program prints it for `--version`, and the server reports it to operators.
///
/// A release changes this line and the label in the `Dockerfile`, and adds a section with the same version to `CHANGELOG.md`. Tests
/// compare them.
package let bookplateVersion = "0.9.0"
