{{- define "gatehouse.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-{{ .Chart.Name }}{{ end }}
{{- end }}

{{- define "gatehouse.pods" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "gatehouse.serverPods" -}}
{{ include "gatehouse.pods" . }}
app.kubernetes.io/component: server
{{- end }}

{{- define "gatehouse.labels" -}}
{{ include "gatehouse.pods" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "gatehouse.image" -}}
{{- with .Values.image }}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{- /* A value as Gatehouse reads it: YAML has no "on", and Helm makes a float of every number. */}}
{{- define "gatehouse.text" -}}
{{- if kindIs "bool" . }}{{ ternary "on" "off" . }}{{ else if kindIs "float64" . }}{{ int64 . }}{{ else }}{{ . }}{{ end }}
{{- end }}

{{- define "gatehouse.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: {type: RuntimeDefault}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end }}

{{- define "gatehouse.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{- /* The settings of a Secret, each by the file that it is mounted as. */}}
{{- define "gatehouse.secretSettings" -}}
{{- range $setting, $key := .settings }}
- {name: {{ $setting }}_FILE, value: /run/secrets/gatehouse/{{ $key }}}
{{- end }}
{{- end }}

{{- define "gatehouse.mounts" -}}
- {name: data, mountPath: /var/lib/gatehouse}
- {name: tmp, mountPath: /tmp}
- {name: secrets, mountPath: /run/secrets/gatehouse, readOnly: true}
{{- if .Values.databaseAuthority.secret }}
- {name: database-authority, mountPath: /run/secrets/database-authority, readOnly: true}
{{- end }}
{{- end }}

{{- /* Of the values and of one of its Secrets. Nothing in the folders outlives a pod: the database has everything. */}}
{{- define "gatehouse.volumes" -}}
- {name: data, emptyDir: {sizeLimit: 64Mi}}
- {name: tmp, emptyDir: {sizeLimit: 64Mi}}
- name: secrets
  secret:
    secretName: {{ .secrets.name }}
    defaultMode: 0440
    items:
      {{- range $setting, $key := .secrets.settings }}
      - {key: {{ $key }}, path: {{ $key }}}
      {{- end }}
      {{- range .secrets.files }}
      - {key: {{ . }}, path: {{ . }}}
      {{- end }}
{{- with .values.databaseAuthority }}
{{- if .secret }}
- name: database-authority
  secret:
    secretName: {{ .secret }}
    defaultMode: 0440
    items:
      - {key: {{ .key }}, path: ca.crt}
{{- end }}
{{- end }}
{{- end }}
